# Embeds the template, the style and the script of the pages of a site, which page_template.h declares.
set(site_here ${CMAKE_CURRENT_LIST_DIR})
foreach(kind IN ITEMS html css js)
  file(READ ${site_here}/site.${kind} SITE_${kind})
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${site_here}/site.${kind})
endforeach()
file(READ ${site_here}/../page/sort.js SITE_sort)
string(APPEND SITE_js "(() => {\n${SITE_sort}})();\n")
configure_file(${site_here}/../site_template.cpp.in ${PROJECT_BINARY_DIR}/generated/results/site_template.cpp @ONLY)
