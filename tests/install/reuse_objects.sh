#!/usr/bin/env bash
# A launcher of compilers that takes an object from a build which has made it by the same command already. Other builds
# in tests are so put together, linked and installed by CMake without compiling everything again.
#
# usage: reuse_objects.sh COMPILER ARGUMENT ...
#   $REUSE_COMMANDS  ninja -t commands of that build, $REUSE_BUILD its directory, $REUSE_LOG a file for a line per object
#   $REUSE_PREFIX    what this build's objects have before their names there, such as subproject/
#   $REUSE_LAUNCHER  what compiles the others, such as ccache, and before the compiler in the commands; may be empty
set -u
# Sources that CMake has put together stand in each build, the same ones if they include the same.
wanted=" $* "
source=" $* " source=${source##* -c } source=${source%% *}
if [[ $source == "$PWD/"* ]]; then
  twin=$REUSE_BUILD/${source#"$PWD/${REUSE_PREFIX:-}"}
  if cmp -s "$source" "$twin"; then wanted=${wanted/ "$source" / "$twin" }; fi
fi
if [[ -n ${REUSE_PREFIX:-} ]]; then wanted=${wanted// "$REUSE_PREFIX"/ }; fi
object=${wanted##* -o }
object=${object%% *}
command=$(grep -F -m 1 -- " -o $object -c " "$REUSE_COMMANDS")
# As the shell reads it: without the quotes.
eval "made_by=($command)"
# shellcheck disable=SC2154 # set by eval
if [[ -n ${REUSE_LAUNCHER:-} && ${made_by[0]:-} == "$REUSE_LAUNCHER" ]]; then made_by=("${made_by[@]:1}"); fi
if [[ " ${made_by[*]:-} " == "$wanted" && -e $REUSE_BUILD/$object ]]; then
  echo "reused $object" >> "$REUSE_LOG"
  exec cp "$REUSE_BUILD/$object" "${REUSE_PREFIX:-}$object"
fi
echo "compiled $object" >> "$REUSE_LOG"
if [[ -n ${REUSE_LAUNCHER:-} ]]; then exec "$REUSE_LAUNCHER" "$@"; fi
exec "$@"
