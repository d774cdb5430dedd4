# shellcheck shell=bash
# Bash completion for spmvpack. Commands, options, layouts and kinds come from the help texts of the installed program,
# so there are no lists here to keep up to date.

# The distinct matches of a grep -E pattern in the help of a command. (The exit codes and the matrices of bench are
# skipped, because they mention other commands.)
_spmvpack_words() {
  local program=$1 command=$2 pattern=$3
  "$program" "$command" --help 2> /dev/null | sed '/^Exit codes/,$d; /^The \(suite\|shapes\):/,/^$/d' | grep -oE -- "$pattern" | sort -u
}

_spmvpack_commands() { "$1" -h 2> /dev/null | sed -n 's/^  \([a-z]*\)  .*/\1/p'; }

# What --target takes by name; without the lines that the sed commands in the second argument delete.
_spmvpack_targets() { "$1" help targets 2> /dev/null | sed -n "${2-}"'s/^  \([a-z0-9]*\)  .*/\1/p'; }

_spmvpack() {
  local program=$1 word=$2 before=$3 command=${COMP_WORDS[1]} candidates='' files=''
  COMPREPLY=()
  # bash treats "=" as a separate word: --layout=csr.
  if [[ $word == = ]]; then
    word=''
  elif [[ $before == = ]]; then
    before=${COMP_WORDS[COMP_CWORD - 2]}
  fi

  if ((COMP_CWORD == 1)); then
    candidates="$(_spmvpack_commands "$program") help --help --version"
  elif [[ $command == help ]]; then
    if ((COMP_CWORD == 2)); then candidates="$(_spmvpack_commands "$program") layouts targets"; fi
  else
    case $before in
      --layout) candidates=$("$program" encode --help 2> /dev/null | sed -n '/^Layouts/,/^$/s/^  \([a-z_0-9]*\)$/\1/p') ;;
      --set) candidates=$(_spmvpack_words "$program" encode '[a-z_0-9]+\.[a-z_]+=') ;;
      --codec) candidates='none zstd' ;;
      --value-type)
        candidates='f64 f32'
        if [[ $command == bench ]]; then candidates+=' mixed'; fi
        ;;
      --x | --against | -o | --output) files='*' ;;
      --device | --tune) candidates='gpu host' ;;
      --target)
        candidates=$(_spmvpack_targets "$program")
        if [[ $word == *[./]* ]]; then candidates='' files='*.json'; fi
        ;;
      --print)
        candidates=$(_spmvpack_targets "$program" '/, the same as /d;')
        ;;
      --optimize) candidates='time bytes' ;;
      --peers) candidates='cusparse none' ;;
      --only) candidates=$("$program" bench --help 2> /dev/null | sed -n '/^The \(suite\|shapes\):/,/^$/s/^  \([A-Za-z0-9.-][A-Za-z0-9.-]*\).*/\1/p') ;;
      --threads | --memory-limit | --seed | --runs) return ;;
      *)
        if [[ $word == -* ]]; then
          candidates=$(_spmvpack_words "$program" "$command" '\B--[a-z][a-z-]*')
        elif [[ $command == generate ]]; then
          if ((COMP_CWORD == 2)); then
            candidates=$("$program" generate --help 2> /dev/null | sed -n '/^Kinds:/,/^$/s/^  \([a-z0-9-]*\) .*/\1/p')
          fi
        else
          case $command in
            encode | report | bench) files='*' ;;
            *) files='*.spmvc' ;;
          esac
        fi
        ;;
    esac
  fi

  if [[ -n $candidates ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$candidates" -- "$word")
    if [[ ${COMPREPLY[0]} == *= ]]; then compopt -o nospace 2> /dev/null; fi
  elif [[ -n $files ]]; then
    compopt -o filenames 2> /dev/null
    mapfile -t COMPREPLY < <({ compgen -d -- "$word"; compgen -f -X "!$files" -- "$word"; } | sort -u)
  fi
}
complete -F _spmvpack spmvpack
