import { hash } from 'node:crypto'
import { INBOXES } from '../../ops/read-system-document.ts'
import { type BlockLog, comparePositions, LOG_START, type LogPosition } from '../../store/block-log.ts'
import type { StreamStore } from '../../store/store.ts'
import { LeasectlError } from '../../stream/errors.ts'
import { isoTime } from '../../stream/time/dates.ts'
import { isObject } from '../../stream/values.ts'
import { type Inbox, partitionLog } from '../inbox.ts'

/** A record of an inbox that could not be done, and why. */
export interface DeadLetter {
  /** Its own name: the same for the same line, however often it is drained. */
  readonly letter: string
  readonly partition: number
  /** Id of the record; empty if the line is not a record. */
  readonly id: string
  readonly key: string
  /** The stream that it was for, if it came so far. */
  readonly stream: string
  /** Why, in a word: `exists`, `invalid-value`, `session-ended`. */
  readonly code: string
  readonly why: string
  /** When the drain gave it up, ISO time. */
  readonly diedAt: string
  /** Who drained it, `user@host`. */
  readonly by: string
  /** The line as it was put. */
  readonly line: string
  /** The line was too long to be kept whole: it cannot be tried again. */
  readonly isCut: boolean
  /** The later records of its key wait behind it, as its inbox is drained in strict order. */
  readonly blocks: boolean
  /** One that blocks was retried: its drain tries it again where it stands, before those behind it. */
  readonly isRetried: boolean
}

/** What is done about a dead letter: `retried` puts it into the inbox again; one that blocks is done where it stands. */
export type DeadLetterEnd = 'retried' | 'dropped'

/** The store did not say whether a line was written: the same again is safe. */
export class DeadLettersUnknown extends LeasectlError {
  readonly code = 'unknown'
}

/** The most characters of a line that are kept. */
const LONGEST_LINE = 512 * 1024
const READ_BYTES = 1024 * 1024
/** Attempts of a block that is not answered. */
const ATTEMPTS = 3

/** The log of the dead letters of an inbox, and of what was done about them. */
function deadLetterLog(store: StreamStore, { name }: Inbox): BlockLog {
  return store.log(`${INBOXES}${name}/dead`)
}

/** The dead letter of a line. */
export function deadLetter(
  line: string,
  fields: Pick<DeadLetter, 'partition' | 'id' | 'key' | 'stream' | 'code' | 'why' | 'by' | 'blocks'> & {
    readonly atMs: number
  },
): DeadLetter {
  const { atMs, ...rest } = fields
  const letter = hash('sha256', `${rest.partition}\n${line}`, 'hex').slice(0, 12)
  const isCut = line.length > LONGEST_LINE
  return {
    letter,
    ...rest,
    diedAt: isoTime(atMs),
    line: isCut ? line.slice(0, LONGEST_LINE) : line,
    isCut,
    isRetried: false,
  }
}

/** How many dead letters of an inbox are open. */
export interface DeadLetterCount {
  readonly open: number
  /** The end of their log: while it stays, so does the number. `undefined` without a log. */
  readonly end: LogPosition | undefined
}

/** @param known an earlier count @throws the store's faults */
export async function countDeadLetters(
  store: StreamStore,
  inbox: Inbox,
  { known, signal }: { readonly known?: DeadLetterCount | undefined; readonly signal?: AbortSignal } = {},
): Promise<DeadLetterCount> {
  const end = (await deadLetterLog(store, inbox).extent(signal))?.end
  if (end === undefined) return { open: 0, end }
  if (known?.end !== undefined && comparePositions(known.end, end) === 0) return known
  return { open: (await readOpen(store, inbox, signal)).letters.size, end }
}

/** Keeps a dead letter. @throws DeadLettersUnknown; the store's faults */
export async function writeDeadLetter(store: StreamStore, inbox: Inbox, letter: DeadLetter): Promise<void> {
  const { isRetried: _, ...fields } = letter
  await appendLine(deadLetterLog(store, inbox), `${JSON.stringify(fields)}\n`)
}

/** Records that a letter which blocked was done after all. @throws DeadLettersUnknown; the store's faults */
export async function writeDrained(store: StreamStore, inbox: Inbox, letter: DeadLetter, by: string): Promise<void> {
  await writeEnd(store, inbox, letter, 'drained', by)
}

/** Where the log ends now; `undefined` if nothing has died. @throws the store's faults */
export async function deadLettersEnd(
  store: StreamStore,
  inbox: Inbox,
  signal?: AbortSignal,
): Promise<LogPosition | undefined> {
  return (await deadLetterLog(store, inbox).extent(signal))?.end
}

async function writeEnd(
  store: StreamStore,
  inbox: Inbox,
  { letter, diedAt }: DeadLetter,
  how: DeadLetterEnd | 'drained',
  by: string,
): Promise<void> {
  const end = { settled: letter, died: diedAt, how, by, at: isoTime(store.nowMs()) }
  await appendLine(deadLetterLog(store, inbox), `${JSON.stringify(end)}\n`)
}

/** The open dead letters of an inbox, oldest first. @throws the store's faults */
export async function readDeadLetters(store: StreamStore, inbox: Inbox, signal?: AbortSignal): Promise<DeadLetter[]> {
  return [...(await readOpen(store, inbox, signal)).letters.values()].map(({ letter }) => letter)
}

/**
 * Drops dead letters, or puts them into the inbox again, in their order. If it ends half-way, those that are open yet are
 * still listed: doing it again has no second effect, as records are told apart by their ids.
 *
 * @throws DeadLettersUnknown; the store's faults
 */
export async function settleDeadLetters(
  store: StreamStore,
  inbox: Inbox,
  letters: readonly DeadLetter[],
  { how, by, signal }: { readonly how: DeadLetterEnd; readonly by: string; readonly signal?: AbortSignal },
): Promise<void> {
  const log = deadLetterLog(store, inbox)
  for (const letter of letters) {
    const { partition, line, blocks } = letter
    signal?.throwIfAborted()
    if (how === 'retried' && !blocks) await appendLine(partitionLog(store, inbox, partition), `${line}\n`)
    await writeEnd(store, inbox, letter, how, by)
  }
  const { from } = await readOpen(store, inbox, signal)
  await log.trim(from, signal)
}

interface OpenLetters {
  readonly letters: ReadonlyMap<string, { readonly letter: DeadLetter }>
  /** Before the first of them. */
  readonly from: LogPosition
}

async function readOpen(store: StreamStore, inbox: Inbox, signal: AbortSignal | undefined): Promise<OpenLetters> {
  const log = deadLetterLog(store, inbox)
  const letters: Letters = new Map()
  let from = LOG_START
  for (;;) {
    const { bytes, next } = await log.read(from, READ_BYTES, signal)
    if (bytes.length === 0) break
    for (const line of new TextDecoder().decode(bytes).split('\n')) {
      const fields = fieldsOf(line)
      if (typeof fields?.settled === 'string') end(letters, fields.settled, fields)
      const letter = fields && letterOf(fields)
      const known = letter && letters.get(letter.letter)
      // It keeps its place, whatever became of it when it was tried again.
      if (letter !== undefined) letters.set(letter.letter, { letter, from: known?.from ?? from })
    }
    from = next
  }
  const [first] = letters.values()
  return { letters, from: first?.from ?? from }
}

type Letters = Map<string, { readonly letter: DeadLetter; readonly from: LogPosition }>

/** A record that was retried may have died again before its end was written: that is the end of an earlier death. */
function end(letters: Letters, name: string, { how, died }: Readonly<Record<string, unknown>>): void {
  const known = letters.get(name)
  if (died !== undefined && known?.letter.diedAt !== died) return
  if (known?.letter.blocks && how === 'retried')
    letters.set(name, { ...known, letter: { ...known.letter, isRetried: true } })
  else letters.delete(name)
}

async function appendLine(log: BlockLog, line: string): Promise<void> {
  const block = Buffer.from(line)
  let cause: unknown
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const outcome = await log.append(block)
    if (outcome.kind === 'appended') return
    cause = outcome.cause
  }
  throw new DeadLettersUnknown('the store did not say whether the line was written', { cause })
}

/** A line that is not ours is left out. */
function letterOf(fields: Readonly<Record<string, unknown>>): DeadLetter | undefined {
  const { letter, partition, line, isCut } = fields
  if (typeof letter !== 'string' || typeof line !== 'string' || typeof partition !== 'number') return undefined
  const text = (name: string) => (typeof fields[name] === 'string' ? fields[name] : '')
  return {
    letter,
    partition,
    line,
    isCut: isCut === true,
    blocks: fields.blocks === true,
    isRetried: false,
    id: text('id'),
    key: text('key'),
    stream: text('stream'),
    code: text('code'),
    why: text('why'),
    diedAt: text('diedAt'),
    by: text('by'),
  }
}

function fieldsOf(line: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const fields: unknown = JSON.parse(line)
    return isObject(fields) ? fields : undefined
  } catch {
    return undefined
  }
}
