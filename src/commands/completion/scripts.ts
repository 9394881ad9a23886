import { hasHostile } from '../../formats/json.ts'
import { visibleText } from '../../util/visible-text.ts'
import type { Candidates, CompletionWord } from './candidates.ts'
import type { TypedLine } from './line.ts'
import type { Shell } from './shells.ts'

/**
 * The scripts of `completion SHELL`. Each passes the line up to the cursor to `__complete` and offers the answer; all
 * decisions are made there.
 */
export const SCRIPTS: { readonly [Of in Shell]: string } = {
  // For the old bash of macOS: no mapfile, no negative subscripts.
  bash: `# bash completion for leasectl
_leasectl() {
  local program=leasectl answer line
  [[ $1 == */* ]] && program=\${1/#\\~/$HOME}
  COMPREPLY=()
  answer=$("$program" __complete bash -- "\${COMP_LINE:0:COMP_POINT}" "$COMP_WORDBREAKS" 2>/dev/null) || return 0
  if [[ $answer == *$'\\n'* ]]; then
    while IFS= read -r line; do COMPREPLY+=("$line"); done <<<"\${answer#*$'\\n'}"
  fi
  case \${answer%%$'\\n'*} in
    open) compopt -o nospace 2>/dev/null ;;
    files) compopt -o default 2>/dev/null ;;
  esac
  return 0
}
complete -F _leasectl leasectl
`,
  zsh: `#compdef leasectl
# zsh completion for leasectl
_leasectl() {
  local -a answer
  local kind
  answer=("\${(@f)$(leasectl __complete zsh -- "\${(j: :)words[1,CURRENT-1]} \${QIPREFIX}\${PREFIX}" 2>/dev/null)}")
  kind=\${answer[1]}
  shift answer
  case $kind in
    words) (( \${#answer} )) && _describe -t leasectl 'leasectl' answer ;;
    open) (( \${#answer} )) && _describe -t leasectl 'leasectl' answer -S '' ;;
    files)
      compset -P '--*='
      compset -P 'sqlite:'
      _files
      ;;
  esac
}
compdef _leasectl leasectl
# read from fpath, the file itself is the function that was called
if [[ $funcstack[1] == _leasectl ]]; then _leasectl "$@"; fi
`,
  fish: `# fish completion for leasectl
function __leasectl_complete
    set -l answer (leasectl __complete fish -- (commandline -cp | string collect) 2>/dev/null)
    test (count $answer) -gt 0; or return
    set -l kind $answer[1]
    set -e answer[1]
    if test $kind = files
        __fish_complete_path (commandline -ct)
    else if test (count $answer) -gt 0
        printf '%s\\n' $answer
    end
end
complete -c leasectl -f -a '(__leasectl_complete)'
`,
}

/**
 * The answer for the script of a shell: the kind of the candidates, then one candidate per line in the format of the
 * shell. Texts with control characters are left out, since the shell prints them unchanged.
 */
export function answerText({ kind, found }: Candidates, shell: Shell, typed: TypedLine): string {
  const harmless = found.filter(({ text }) => text !== '' && !hasHostile(text))
  const lines = harmless.map(candidate => lineOf(candidate, shell, typed)).filter(line => line !== undefined)
  return `${[kind, ...new Set(lines)].join('\n')}\n`
}

function lineOf({ text, what }: CompletionWord, shell: Shell, typed: TypedLine): string | undefined {
  const explained = what === undefined || what === '' ? undefined : visibleText(what)
  switch (shell) {
    case 'bash':
      return quoted(text.slice(typed.kept), typed.quote)
    case 'zsh':
      // a colon would end the candidate; zsh quotes by itself
      return `${text.replace(/[\\:]/g, '\\$&')}${explained === undefined ? '' : `:${explained}`}`
    case 'fish':
      return explained === undefined ? text : `${text}\t${explained}`
    default:
      return shell satisfies never
  }
}

/**
 * The text quoted for bash after the typed part; `undefined` if the open quote cannot contain it. Within double quotes a
 * `!` expands the history, and a backslash before it would stay in the word.
 */
function quoted(text: string, quote: TypedLine['quote']): string | undefined {
  if (quote === "'") return text.includes("'") ? undefined : text
  if (quote === '"') return text.includes('!') ? undefined : text.replace(/["\\$`]/g, '\\$&')
  return text.replace(/[^\w@%+=:,./\u0080-\uffff-]/g, '\\$&')
}
