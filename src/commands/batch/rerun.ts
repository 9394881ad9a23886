import { open } from 'node:fs/promises'
import { UsageError } from '../../cli/problem.ts'
import { isReservedName } from '../../store/names.ts'
import { checkCommandId, checkText } from '../../stream/text.ts'
import type { OnStreamsOptions } from './options.ts'
import type { OutcomeWord } from './outcome-words.ts'

/** What a run file leaves to do. */
export interface Rerun {
  readonly verb: string
  /** Address of the store. */
  readonly store: string
  /** As they were given then: what was in truth done says "already". */
  readonly given: Pick<OnStreamsOptions, 'by' | 'reason' | 'commandId' | 'event' | 'force'>
  /** Streams in their order, with the events of each; none means the stream as a whole. */
  readonly rest: ReadonlyMap<string, RestOfStream>
  /** How many targets it names. */
  readonly total: number
}

export interface RestOfStream {
  readonly events: readonly string[]
  /** The stream's identity then, `''` if it had none. */
  readonly born: string
}

/**
 * Reads a run file. What has no outcome was not begun, and is repeated in any case; a last line that was cut off by the end
 * of the process counts as not written.
 *
 * @param only which outcomes are repeated; without it all but `done` and `already`
 * @throws UsageError it is no run file, or names fewer targets than the run had: then nothing had been changed
 */
export async function readRunFile(path: string, only: readonly OutcomeWord[] | undefined): Promise<Rerun> {
  const lines = recordsIn(await textOf(path))
  const { total: planned, ...run } = understood(path, () => headOf(lines[0]))
  const { rest, total } = understood(path, () => restOf(lines, only))
  if (total < planned) throw cutShort(path, total, planned)
  return { ...run, rest, total }
}

function understood<Value>(path: string, read: () => Value): Value {
  try {
    return read()
  } catch (cause) {
    throw new UsageError(`${path} is no run file`, { cause, hint: 'A batch names its run file when it ends.' })
  }
}

async function textOf(path: string): Promise<string> {
  try {
    const file = await open(path)
    try {
      // A device may never end.
      if (!(await file.stat()).isFile()) throw new Error('not a file')
      return await file.readFile('utf8')
    } finally {
      await file.close()
    }
  } catch (cause) {
    throw new UsageError(`--rerun ${path} cannot be read`, { cause, hint: 'A run file, as a batch names it.' })
  }
}

type Fields = Readonly<Record<string, unknown>>

/** As far as lines can be read. */
function recordsIn(text: string): Fields[] {
  const records: Fields[] = []
  for (const line of text.split('\n')) {
    if (line === '') continue
    try {
      const value: unknown = JSON.parse(line)
      if (typeof value === 'object' && value !== null) records.push(value as Fields)
    } catch {
      break
    }
  }
  return records
}

function headOf(head: Fields | undefined): Pick<Rerun, 'verb' | 'store' | 'given'> & { readonly total: number } {
  if (head?.record !== 'run') throw new TypeError('record')
  const by = textIn(head, 'by')
  const commandId = textIn(head, 'commandId')
  checkText('by', by)
  checkCommandId(commandId)
  const reason = optionalText(head, 'reason')
  if (reason !== undefined) checkText('reason', reason)
  const { events, total } = head
  if (!Array.isArray(events) || !events.every(event => typeof event === 'string')) throw new TypeError('events')
  if (typeof total !== 'number') throw new TypeError('total')
  return {
    verb: textIn(head, 'verb'),
    store: textIn(head, 'store'),
    total,
    given: {
      by,
      commandId,
      ...(reason === undefined ? {} : { reason }),
      ...(events.length === 0 ? {} : { event: events }),
      ...(head.force === true ? { force: true } : {}),
    },
  }
}

function restOf(
  lines: readonly Fields[],
  only: readonly OutcomeWord[] | undefined,
): { readonly rest: Map<string, RestOfStream>; readonly total: number } {
  const outcomes = new Map<string, string>()
  for (const line of lines) if (line.record === 'outcome') outcomes.set(keyOf(line), textIn(line, 'outcome'))
  const isWanted = (word: string | undefined) =>
    word === undefined || (only === undefined ? word !== 'done' && word !== 'already' : only.some(one => one === word))
  const rest = new Map<string, { events: string[]; born: string }>()
  let total = 0
  for (const line of lines) {
    if (line.record !== 'target') continue
    total += 1
    if (!isWanted(outcomes.get(keyOf(line)))) continue
    const stream = textIn(line, 'stream')
    // A name that no stream can have stands there as well: it has an outcome like all.
    if (isReservedName(stream)) throw new TypeError('stream')
    const own = rest.get(stream) ?? { events: [], born: optionalText(line, 'born') ?? '' }
    const event = optionalText(line, 'event')
    if (event !== undefined) own.events.push(event)
    rest.set(stream, own)
  }
  return { rest, total }
}

function keyOf(line: Fields): string {
  return JSON.stringify([textIn(line, 'stream'), optionalText(line, 'event')])
}

function textIn(fields: Fields, name: string): string {
  const value = fields[name]
  if (typeof value !== 'string' || value === '') throw new TypeError(name)
  return value
}

function optionalText(fields: Fields, name: string): string | undefined {
  return fields[name] === null || fields[name] === undefined ? undefined : textIn(fields, name)
}

function cutShort(path: string, found: number, total: number): UsageError {
  return new UsageError(`${path} ends after ${found} of ${total} targets`, {
    hint: 'That run ended before it changed anything: give its command again.',
  })
}
