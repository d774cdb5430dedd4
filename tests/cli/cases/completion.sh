# What bash offers after a Tab.
# shellcheck source=tools/completion/spmvpack.bash
source "$CASES/../../../tools/completion/spmvpack.bash"

# Prints what completes the last of the words.
offer() {
  COMP_WORDS=(spmvpack "$@")
  COMP_CWORD=$#
  COMPREPLY=()
  _spmvpack spmvpack "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
  echo "${COMP_WORDS[*]}|" "${COMPREPLY[@]}"
}

mkdir sub
touch A.mtx A.mtx.gz A.spmvc 'B C.spmvc'
offer ''
offer e
offer help mu
offer help la
offer help ta
offer help encode -
offer -
offer encode --
offer encode --co
offer encode A.mtx --layout cc
offer encode A.mtx --layout = cs
offer encode A.mtx --set ''
offer encode A.mtx --codec ''
offer encode A.mtx --target ''
touch sub/mine.json
offer encode A.mtx --target sub/
rm sub/mine.json
offer calibrate --print h
offer encode A.mtx --value-type f6
offer encode A.mtx --threads ''
offer encode ''
offer verify ''
offer verify A.spmvc --against A
offer multiply 'B'
offer multiply A.spmvc -o ''
offer generate la
offer generate laplace2d --gr
offer bench --suite --only lp
offer bench A.mtx --peers ''
offer bench A.mtx --value-type ''
offer nonsense --
# Every layout is offered: those that the report lists.
printf '%%%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 1\n' > A.mtx
known=$(spmvpack report A.mtx --json | python3 -c 'import json, sys; print(*(l["name"] for l in json.load(sys.stdin)["layouts"]))')
for word in '' =; do
  offered=$(offer encode A.mtx --layout "$word" | sed 's/.*|//')
  for layout in $known; do [[ " $offered " == *" $layout "* ]] || echo "--layout$word $layout is not offered"; done
done
# Every option of every command is offered, and nothing that the command does not take.
for command in encode report inspect verify decode multiply generate bench; do
  for option in $(spmvpack "$command" -h | grep -oE '^ .{5}--[a-z-]+' | tr -d ' ' | sed 's/^-.,//'); do
    [[ $(offer "$command" "$option") == *"| $option"* ]] || echo "$command $option is not offered"
  done
  for option in $(offer "$command" -- | sed 's/.*|//'); do
    [[ $option != --suite && $option != --shapes ]] || continue  # taken, and long
    if spmvpack "$command" "$option" 2>&1 | grep -q unrecognised; then echo "$command does not take $option"; fi
  done
done
# The candidates are bash's: one word each, also where names have spaces.
offer multiply B > /dev/null
echo "${#COMPREPLY[@]} ${COMPREPLY[0]}"
