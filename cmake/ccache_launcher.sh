#!/bin/sh
# ccache_launcher.sh CCACHE COMPILER ARGUMENTS: compiles with ccache, with the settings that precompiled headers need.
# It first removes the precompiled header that the command makes. ccache would preprocess with the old one, take its
# content for that of the changed headers, and could return a precompiled header of other sources. In depend mode ccache
# compares the files themselves, with their comments: #pragma once takes a file of another size for another file.
# ccache takes one compiler by two names, such as c++ and g++, for two: it gets the name of the file.
ccache=$1
compiler=$(readlink -f "$(command -v "$2")") && [ "${compiler##*/}" != ccache ] || compiler=$2
shift 2
for argument; do
  case $argument in *.gch | *.pch) [ "$previous" = -o ] && rm -f "$argument" && export CCACHE_DEPEND=1 ;; esac
  previous=$argument
done
export CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
exec "$ccache" "$compiler" "$@"
