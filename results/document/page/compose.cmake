# Composes the page of plots from the files in this folder and the system's Vega, into POSBENCH_PAGE. Debian ships Vega
# as modules, which the lines below join. The page uses the evaluator that runs no code made from texts, so that its
# Content-Security-Policy can name the two scripts that may run by their hashes.
find_path(POSBENCH_VEGA vega-interpreter.min.js PATHS /usr/share/javascript/vega
          DOC "Folder with the modules of Vega 5, as in Debian's libjs-vega")
set(vega_copyright /usr/share/doc/libjs-vega/copyright CACHE FILEPATH "The licenses of Vega and D3")
if(POSBENCH_FETCH AND NOT POSBENCH_VEGA)
  set(folder ${PROJECT_BINARY_DIR}/_deps/vega)
  message(STATUS "posbench: Vega from ${debian}/v/vega.js")
  file(DOWNLOAD ${debian}/v/vega.js/libjs-vega_5.22.1+ds+~3.1.0-4_all.deb ${folder}/vega.deb
       EXPECTED_HASH SHA256=d8f63c99756f86fe2e81af15fb79d9f9368efebc073c03d60a3678ff136bcd19)
  file(ARCHIVE_EXTRACT INPUT ${folder}/vega.deb DESTINATION ${folder})  # it contains data.tar.xz
  file(ARCHIVE_EXTRACT INPUT ${folder}/data.tar.xz DESTINATION ${folder})
  set(POSBENCH_VEGA ${folder}/usr/share/javascript/vega CACHE PATH "" FORCE)
  set(vega_copyright ${folder}/usr/share/doc/libjs-vega/copyright CACHE FILEPATH "" FORCE)
endif()
if(NOT POSBENCH_VEGA OR NOT EXISTS ${vega_copyright})
  message(FATAL_ERROR "Vega is missing, which draws the plots of reports: scripts/install_dependencies.sh installs it "
                      "(Debian's libjs-vega); or configure with -DPOSBENCH_FETCH=ON, or set POSBENCH_VEGA to a folder with its modules")
endif()

# Sets `result` to the base64 form of the SHA-256 of a text.
function(script_hash text result)
  string(SHA256 hex "${text}")
  set(alphabet "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
  set(base64 "")
  foreach(at RANGE 0 63 3)  # three hexadecimal digits are two of base64
    string(SUBSTRING "${hex}00" ${at} 3 digits)
    math(EXPR high "0x${digits} >> 6")
    math(EXPR low "0x${digits} & 63")
    string(SUBSTRING ${alphabet} ${high} 1 first)
    string(SUBSTRING ${alphabet} ${low} 1 second)
    string(APPEND base64 ${first}${second})
  endforeach()
  string(SUBSTRING ${base64} 0 43 base64)
  set(${result} "'sha256-${base64}='" PARENT_SCOPE)
endfunction()

set(modules util time format loader statistics dataflow scale canvas scenegraph expression event-selector selection functions
            runtime transforms view-transforms encode view parser interpreter)
set(PAGE_VEGA "// Vega, Copyright 2015-2022 University of Washington Interactive Data Lab, BSD-3-Clause; in it D3, Copyright
// 2010-2022 Mike Bostock, ISC. The licenses are at the end of this page.
const vega = (() => {
const modules = {}, require = name => modules[name] || {};
const add = (name, body) => { const module = {exports: {}}; body(module.exports, module); modules[name] = module.exports; };
")
foreach(module IN LISTS modules)
  set(file ${POSBENCH_VEGA}/vega-${module}.min.js)
  file(READ ${file} text)
  string(REPLACE "//# sourceMappingURL=vega-${module}.min.js.map" "" text "${text}")
  string(APPEND PAGE_VEGA "add(\"vega-${module}\", (exports, module) => {\n${text}\n});\n")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
endforeach()
string(REPLACE "add(\"vega-selection\"" "add(\"vega-selections\"" PAGE_VEGA "${PAGE_VEGA}")  # as the others call it
string(APPEND PAGE_VEGA "Object.assign(modules[\"vega-dataflow\"].transforms, modules[\"vega-transforms\"],
              modules[\"vega-view-transforms\"], modules[\"vega-encode\"]);
return {parse: modules[\"vega-parser\"].parse, View: modules[\"vega-view\"].View,
        expressionInterpreter: modules[\"vega-interpreter\"].expressionInterpreter};
})();
")

set(here ${CMAKE_CURRENT_LIST_DIR})
file(READ ${here}/page.css PAGE_STYLE)
set(PAGE_SCRIPT "\"use strict\";\n(() => {\n")
foreach(part IN ITEMS state plots filters page sort)  # one script, in the order in which each uses those before it
  file(READ ${here}/${part}.js text)
  string(APPEND PAGE_SCRIPT "${text}")
endforeach()
string(APPEND PAGE_SCRIPT "})();\n")
set(PAGE_SPECIFICATIONS "")
foreach(kind IN ITEMS curve heat dots forest scatter strip)
  file(READ ${here}/${kind}.json text)
  string(APPEND PAGE_SPECIFICATIONS ",\"${kind}\":${text}")
endforeach()
string(REGEX REPLACE "^," "{" PAGE_SPECIFICATIONS "${PAGE_SPECIFICATIONS}}")
string(REPLACE "<" "\\u003c" PAGE_SPECIFICATIONS "${PAGE_SPECIFICATIONS}")
file(READ ${vega_copyright} PAGE_LICENCES)
string(REPLACE "&" "&amp;" PAGE_LICENCES "${PAGE_LICENCES}")
string(REPLACE "<" "&lt;" PAGE_LICENCES "${PAGE_LICENCES}")
script_hash("${PAGE_VEGA}" vega_hash)
script_hash("${PAGE_SCRIPT}" script_hash)
set(PAGE_SCRIPT_HASHES "${vega_hash} ${script_hash}")
file(READ ${here}/page.html page)
string(CONFIGURE "${page}" POSBENCH_PAGE @ONLY)
configure_file(${here}/../page_template.cpp.in ${PROJECT_BINARY_DIR}/generated/results/page_template.cpp @ONLY)
file(GLOB parts CONFIGURE_DEPENDS ${here}/*)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${parts} ${vega_copyright})
