# embed_text(<target> <file> <function>): a .cc of namespace hv with the file's text behind
# std::string_view <function>(), made at configure time and again when the file changes.
function(embed_text target file function)
  file(READ ${PROJECT_SOURCE_DIR}/${file} text)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${file})
  set(generated ${PROJECT_BINARY_DIR}/generated/${function}.cc)
  file(CONFIGURE OUTPUT ${generated} @ONLY CONTENT [==[
#include <string_view>
namespace hv {
std::string_view @function@();
std::string_view @function@() {
  return R"embedded(@text@)embedded";
}
}  // namespace hv
]==])
  target_sources(${target} PRIVATE ${generated})
endfunction()

# embed_texts(<target> <header> <function> <file>...): a .cc of namespace hv that defines
# std::span<const EmbeddedText> <function>(), declared in <header>: name without extension, and text.
function(embed_texts target header function)
  set(rows "")
  foreach(file IN LISTS ARGN)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
    file(READ ${file} text)
    get_filename_component(name ${file} NAME_WE)
    string(APPEND rows "    {\"${name}\", R\"embedded(${text})embedded\"},\n")
  endforeach()
  set(generated ${PROJECT_BINARY_DIR}/generated/${function}.cc)
  file(CONFIGURE OUTPUT ${generated} @ONLY CONTENT [==[
#include "@header@"
namespace hv {
namespace {
constexpr EmbeddedText kTexts[] = {
@rows@};
}  // namespace
std::span<const EmbeddedText> @function@() { return kTexts; }
}  // namespace hv
]==])
  target_sources(${target} PRIVATE ${generated})
endfunction()
