# The manual page says what the help texts say: every option of every command, and all the rest.
root=$CASES/../../..
python3 "$root/tools/manpage.py" spmvpack --check "$root/docs/spmvpack.1" || exit 1
for command in $(spmvpack -h | sed -n 's/^  \([a-z]*\)  .*/\1/p'); do
  page=$(sed -n "/^\.SS $command:/,/^\.S/p; /^\.SH COMMON/,/^\.SH EXIT/p" "$root/docs/spmvpack.1" | tr -d '\134')
  for option in $(spmvpack "$command" -h | grep -oE '^ .{5}--[a-z-]+' | tr -d ' ' | sed 's/^-.,//'); do
    [[ $page == *"$option"* ]] || echo "$command: $option is missing"
  done
done
if command -v man > /dev/null; then man --warnings -l "$root/docs/spmvpack.1" > /dev/null; fi
