import { hasHostile } from '../../formats/json.ts'
import { visibleText } from '../../stream/text.ts'
import type { Candidate, Candidates } from './candidate.ts'
import type { TypedLine } from './line.ts'
import type { Shell } from './shells.ts'

/**
 * What the script of a shell reads: the kind of the candidates, then one a line as the shell wants to have it. Texts
 * that could steer a terminal are left out: the shell prints them as they are.
 */
export function answerText({ kind, found }: Candidates, shell: Shell, typed: TypedLine): string {
  const harmless = found.filter(({ text }) => text !== '' && !hasHostile(text))
  const lines = harmless.map(candidate => lineOf(candidate, shell, typed)).filter(line => line !== undefined)
  return `${[kind, ...new Set(lines)].join('\n')}\n`
}

function lineOf({ text, what }: Candidate, shell: Shell, typed: TypedLine): string | undefined {
  const explained = what === undefined || what === '' ? undefined : visibleText(what)
  switch (shell) {
    case 'bash':
      return quoted(text.slice(typed.kept), typed.quote)
    case 'zsh':
      // a colon ends the candidate there, and zsh quotes by itself
      return `${text.replace(/[\\:]/g, '\\$&')}${explained === undefined ? '' : `:${explained}`}`
    case 'fish':
      return explained === undefined ? text : `${text}\t${explained}`
    default:
      return shell satisfies never
  }
}

/**
 * As bash would have to read it behind what is typed; `undefined` where the open quote cannot hold it. A `!` calls the
 * history within double quotes too, and a backslash before it would stay in the word.
 */
function quoted(text: string, quote: TypedLine['quote']): string | undefined {
  if (quote === "'") return text.includes("'") ? undefined : text
  if (quote === '"') return text.includes('!') ? undefined : text.replace(/["\\$`]/g, '\\$&')
  return text.replace(/[^\w@%+=:,./\u0080-\uffff-]/g, '\\$&')
}
