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
