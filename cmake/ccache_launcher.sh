#!/bin/sh
# ccache_launcher.sh CCACHE COMPILER ARGUMENTS: compiles with ccache, with the settings that precompiled headers need.
# It first removes the precompiled header that the command makes. ccache would preprocess with the old one, take its
# content for that of the changed headers, and could return a precompiled header of other sources. In depend mode ccache
# compares the files themselves, with their comments: #pragma once takes a file of another size for another file.
# ccache stores objects by the name of the compiler. CMake calls GCC c++ and Python calls it g++, so that both get the name
# of the file behind the link. Other compilers keep their names, because some behave by them.
ccache=$1 compiler=$2
file=$(readlink -f "$(command -v "$compiler")")
case ${file##*/} in *g++*) compiler=$file ;; esac
shift 2
for argument; do
  case $argument in *.gch | *.pch) [ "$previous" = -o ] && rm -f "$argument" && export CCACHE_DEPEND=1 ;; esac
  previous=$argument
done
export CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
exec "$ccache" "$compiler" "$@"
