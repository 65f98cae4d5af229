// A reader of XML as strict as the standard where JUnit reports can go wrong: well-formed, valid
// UTF-8, only characters that XML 1.0 has, no attribute twice. No DTD, comments or CDATA: reports
// hold none.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace hv {

struct XmlElement {
  std::string name, text;  // text: of all its text nodes
  std::map<std::string, std::string> attributes;
  std::vector<XmlElement> children;
};

class StrictXml {
 public:
  // The root element; `error` says what is wrong, empty if nothing is.
  static XmlElement Parse(std::string_view xml, std::string* error) {
    StrictXml reader(xml);
    XmlElement root;
    reader.Expect("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    reader.Element(&root);
    reader.Expect("\n");
    if (!reader.rest_.empty()) reader.Fail("text behind the root");
    *error = reader.error_;
    return root;
  }

 private:
  explicit StrictXml(std::string_view xml) : rest_(xml) {}

  void Fail(const std::string& why) {
    if (error_.empty()) error_ = why + " before: " + std::string(rest_.substr(0, 60));
    rest_ = {};
  }
  bool Take(std::string_view word) {
    if (!rest_.starts_with(word)) return false;
    rest_.remove_prefix(word.size());
    return true;
  }
  void Expect(std::string_view word) {
    if (!Take(word)) Fail("expected " + std::string(word));
  }
  std::string Name() {
    size_t end = 0;
    while (end < rest_.size() && (std::isalnum(static_cast<unsigned char>(rest_[end])) != 0 ||
                                  rest_[end] == '-' || rest_[end] == '_')) {
      ++end;
    }
    if (end == 0) Fail("expected a name");
    const std::string name(rest_.substr(0, end));
    rest_.remove_prefix(end);
    return name;
  }

  // Characters up to one of `ends`, entities resolved.
  std::string Characters(std::string_view ends, bool raw_space) {
    std::string text;
    while (!rest_.empty() && ends.find(rest_[0]) == std::string_view::npos) {
      if (Take("&amp;"))
        text += '&';
      else if (Take("&lt;"))
        text += '<';
      else if (Take("&gt;"))
        text += '>';
      else if (Take("&quot;"))
        text += '"';
      else if (Take("&#9;"))
        text += '\t';
      else if (Take("&#10;"))
        text += '\n';
      else if (Take("&#13;"))
        text += '\r';
      else if (rest_[0] == '&' || rest_[0] == '<' || rest_[0] == '>')
        Fail("bare markup");
      else if (rest_[0] == '\r' || (!raw_space && (rest_[0] == '\n' || rest_[0] == '\t')))
        Fail("white space that would be normalised");
      else
        Character(&text);
    }
    return text;
  }

  void Character(std::string* text) {
    const auto byte = [&](size_t i) {
      return i < rest_.size() ? static_cast<unsigned char>(rest_[i]) : 0u;
    };
    size_t size = 1;
    if (byte(0) < 0x20 && byte(0) != '\t' && byte(0) != '\n') return Fail("a control character");
    if (byte(0) >= 0x80) {
      size = byte(0) >= 0xF0 ? 4 : byte(0) >= 0xE0 ? 3 : 2;
      uint32_t code = byte(0) & (0xFFu >> (size + 1));
      if (byte(0) < 0xC2 || byte(0) > 0xF4) return Fail("no UTF-8");
      for (size_t i = 1; i < size; ++i) {
        if ((byte(i) & 0xC0) != 0x80) return Fail("no UTF-8");
        code = code << 6 | (byte(i) & 0x3F);
      }
      if (code < (size == 2 ? 0x80u : size == 3 ? 0x800u : 0x10000u)) return Fail("overlong UTF-8");
      if ((code >= 0xD800 && code <= 0xDFFF) || code == 0xFFFE || code == 0xFFFF || code > 0x10FFFF)
        return Fail("no XML character");
    }
    *text += rest_.substr(0, size);
    rest_.remove_prefix(size);
  }

  void Element(XmlElement* element) {
    Expect("<");
    element->name = Name();
    while (Take(" ")) {
      const std::string key = Name();
      Expect("=\"");
      if (!element->attributes.emplace(key, Characters("\"", false)).second) Fail("twice: " + key);
      Expect("\"");
    }
    if (Take("/>")) return;
    Expect(">");
    while (error_.empty() && !rest_.starts_with("</")) {
      if (rest_.empty()) return Fail("the end");
      if (rest_[0] == '<') {
        Element(&element->children.emplace_back());
      } else {
        element->text += Characters("<", true);
      }
    }
    Expect("</" + element->name + ">");
  }

  std::string_view rest_;
  std::string error_;
};

}  // namespace hv
