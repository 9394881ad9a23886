import { shellWord } from '../../cli/command-line.ts'
import { type FilterTerm, filterTerms } from '../../tui/state/lists/filter.ts'

/** How `ls` lists what a filter of the dashboard leaves. */
export interface ListCommand {
  /** Flags of `ls`. */
  readonly flags: readonly string[]
  /** What its output is passed to, and a comment with what no command expresses; `''` for nothing. */
  readonly rest: string
}

/** The terms of a filter as flags of `ls`; words as greps of its output; the others are named in a comment. */
export function listCommand(filter: string): ListCommand {
  const flags: string[] = []
  const greps: string[] = []
  const left: string[] = []
  for (const term of filterTerms(filter)) {
    const own = term.isUnwanted ? undefined : flagsOf(term)
    if (own !== undefined) flags.push(...own)
    else if (term.sign === '' || (term.name === 'name' && term.sign === ':')) greps.push(grepOf(term))
    else left.push(`${term.isUnwanted ? '!' : ''}${term.raw}`)
  }
  const comment = left.length === 0 ? '' : `  # without ${left.map(shellWord).join(' ')}`
  return {
    flags,
    rest:
      greps
        .filter(text => text !== '')
        .map(text => ` | ${text}`)
        .join('') + comment,
  }
}

function grepOf({ form, value, isUnwanted }: FilterTerm): string {
  if (value === '') return ''
  return `grep -i${isUnwanted ? 'v' : ''}${form === 'regexp' ? 'P' : 'F'} -e ${shellWord(value)}`
}

const STATUS_FLAGS = new Map<string, readonly string[]>([
  ['failed', ['--failed']],
  ['overdue', ['--overdue']],
  ['abandoned', ['--abandoned']],
  ...['blocked', 'suspended', 'held', 'compensating', 'failing'].map(word => [word, ['--state', word]] as const),
  ...['init', 'inprocess', 'completed', 'aborted', 'canceled'].map(word => [word, ['--status', word]] as const),
])

/** Terms without a value of their own. */
const WHOLE: ReadonlyMap<string, readonly string[]> = new Map([
  ['failed>0', ['--acknowledged']],
  ['canceled>0', ['--canceled']],
  ['lease:', ['--locked']],
])

/** Flags that compare whole texts, as `=` does. */
const EXACT: ReadonlyMap<string, string> = new Map([
  ['root', '--root'],
  ['key', '--key'],
  ['topic', '--topic'],
  ['tag', '--tag'],
  ['tracking', '--tracking-id'],
  ['owner', '--owner'],
  ['event', '--event-name'],
])

function flagsOf({ name, sign, form, value, raw }: FilterTerm): readonly string[] | undefined {
  const whole = WHOLE.get(raw.toLowerCase())
  if (whole !== undefined) return whole
  if (name === 'status' && sign === ':') return STATUS_FLAGS.get(value.toLowerCase())
  if (name === 'failed' && sign === ':') return value === '' ? ['--acknowledged'] : ['--failure', textOf(form, value)]
  if (name === 'changed' && sign.startsWith('>')) return ['--older-than', value]
  if (name === 'changed' && sign.startsWith('<')) return ['--since', value]
  const flag = sign === '=' && form !== 'regexp' && value !== '' ? EXACT.get(name) : undefined
  return flag === undefined ? undefined : [flag, value]
}

function textOf(form: FilterTerm['form'], value: string): string {
  return form === 'regexp' ? `/${value}/` : value
}
