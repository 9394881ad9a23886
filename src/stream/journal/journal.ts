import { SaxesParser } from 'saxes'
import { LC_ATTRIBUTES, type LcAttributeName, type StreamEvent } from '../event.ts'
import { BETWEEN_ENTRIES, escapeAttribute, refuseForbidden } from '../xml/text.ts'

/**
 * Why an event changed: as the target, by a cascade, by closing, by a join whose branches have ended, by another gate,
 * because its attempt failed and there will be another, or because it was added.
 */
export type ChangeCause = 'target' | 'cascade' | 'close' | 'join' | 'gate' | 'again' | 'add'

/** One event's part in a transaction. */
export interface JournalChange {
  readonly event: string
  /** `''` for an event that was added. */
  readonly from: string
  /** `''` for an event that a foreign writer removed. */
  readonly to: string
  readonly how: ChangeCause
  /** For `start`. */
  readonly owner?: string
  readonly attempt?: number
  /** For `set`: names of changed attributes, joined by blanks. For `foreign`: `claim` if an older copy ended it. */
  readonly attr?: string
  /**
   * The attributes of leasectl that an added event has, or the gate that a gated event keeps. From them what a foreign
   * writer dropped is restored.
   */
  readonly lc?: StreamEvent['lc']
}

/** One entry of the journal: author, operation, events, time and reason. */
export interface Transaction {
  readonly version: number
  /** ISO time. */
  readonly at: string
  readonly by: string
  /** An operation's name, or `adopt` (first transaction on a foreign document) or `foreign` (a foreign write). */
  readonly op: string
  /** The target event, `''` for none. */
  readonly on: string
  readonly commandId: string
  /** A random text of the call: distinguishes calls with the same command id. */
  readonly nonce?: string
  /** 16 hex digits over op, target and arguments: distinguishes a repeated command from another one with the same id. */
  readonly hash: string
  readonly why: string
  /** A foreign write changed more than statuses. */
  readonly other: boolean
  readonly changes: readonly JournalChange[]
}

/**
 * The journal is kept as raw XML. Appending and finding a command id work on that text; it is parsed only to read the
 * history or when a foreign write was found.
 */

/** One entry as written, on one line. */
export function formatTransaction(transaction: Transaction, prefix: string): string {
  const { version, at, by, op, on, commandId, nonce = '', hash, why, other } = transaction
  const open = `<${prefix}:tx${attributes({ v: String(version), at, by, op, on, cmd: commandId, n: nonce, h: hash, why, other: other ? 'yes' : '' })}`
  if (transaction.changes.length === 0) return `${open}/>`
  return `${open}>${transaction.changes.map(change => formatChange(change, prefix)).join('')}</${prefix}:tx>`
}

/** The journal's raw text with one more entry at its end. @throws InvalidValue for a character that XML cannot hold */
export function appendTransaction(journal: string, transaction: Transaction, prefix: string): string {
  const line = formatTransaction(transaction, prefix)
  refuseForbidden(line)
  return journal === '' ? line : `${journal}${BETWEEN_ENTRIES}${line}`
}

function formatChange(change: JournalChange, prefix: string): string {
  const { event, from, to, how, owner = '', attempt, attr = '' } = change
  const attemptText = attempt === undefined ? '' : String(attempt)
  const lc = change.lc === undefined ? '' : formatLc(change.lc)
  return `<${prefix}:change${attributes({ event, from, to, how, owner, attempt: attemptText, attr, lc })}/>`
}

/** `wait=yes after=01.00%7C01.01`: percent-encoded values. */
function formatLc(lc: StreamEvent['lc']): string {
  return LC_ATTRIBUTES.flatMap(name => {
    const value = lc[name]
    return value === undefined ? [] : [`${name}=${encodeURIComponent(value.toWellFormed())}`]
  }).join(' ')
}

/** Unknown names and unreadable values are ignored. */
function parseLc(text: string): StreamEvent['lc'] {
  const lc: { [Name in LcAttributeName]?: string } = {}
  for (const part of text.split(' ')) {
    const [name = '', value = ''] = part.split('=')
    if (isLcAttribute(name)) lc[name] = decoded(value)
  }
  return lc
}

function isLcAttribute(name: string): name is LcAttributeName {
  return (LC_ATTRIBUTES as readonly string[]).includes(name)
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

function attributes(values: Readonly<Record<string, string>>): string {
  let text = ''
  for (const name in values) {
    const value = values[name]
    if (value) text += ` ${name}="${escapeAttribute(value)}"`
  }
  return text
}

/** All entries, oldest first. Foreign elements and attributes are ignored. */
export function parseJournal(journal: string, prefix: string): Transaction[] {
  if (journal === '') return []
  const transactions: Transaction[] = []
  let changes: JournalChange[] = []
  const parser = new SaxesParser({ xmlns: false, position: false, fragment: true })
  parser.on('error', error => {
    throw error
  })
  parser.on('opentag', tag => {
    if (tag.name === `${prefix}:tx`) {
      changes = []
      transactions.push(readTransaction(tag.attributes, changes))
    } else if (tag.name === `${prefix}:change`) {
      changes.push(readChange(tag.attributes))
    }
  })
  parser.write(journal).close()
  return transactions
}

/**
 * Whether there is an entry with a command id. Ids have neither quotes nor `<`, and the reader normalizes the journal to the
 * form of `formatTransaction`, so a plain search for ` cmd="ID"` finds every entry.
 */
export function hasCommand(journal: string, commandId: string): boolean {
  return journal.includes(` cmd="${commandId}"`)
}

/** The entry with a command id, if any. */
export function findCommand(journal: string, prefix: string, commandId: string): Transaction | undefined {
  if (!hasCommand(journal, commandId)) return undefined
  return parseJournal(journal, prefix).find(transaction => transaction.commandId === commandId)
}

/** The version of the last entry, 0 for an empty journal. */
export function lastVersion(journal: string, prefix: string): number {
  const start = journal.lastIndexOf(`<${prefix}:tx `)
  if (start < 0) return 0
  const end = journal.indexOf(`</${prefix}:tx>`, start)
  const entry = journal.slice(start, end < 0 ? undefined : end)
  return naturalNumber(/ v="(\d+)"/.exec(entry)?.[1])
}

/** Maximum number of last entries to read for their writers. */
const MOST_LATE_ENTRIES = 200

/** The recent writers, in turns of one or more entries each. */
export interface LateWriters {
  /** Names as escaped in the journal. */
  readonly names: ReadonlySet<string>
  /** How often the writer changed. */
  readonly changes: number
  /** From the first of these entries to the last. */
  readonly tookMs: number
}

/** The writers of the entries since a time. Creating the stream alone does not count. */
export function lateWriters(journal: string, prefix: string, sinceIso: string): LateWriters {
  const names = new Set<string>()
  const head = new RegExp(`<${prefix}:tx v="\\d+" at="([^"]*)"(?: by="([^"]*)")? op="([^"]*)"`, 'y')
  let [first, last, later, changes] = ['', '', '', 0]
  let start = journal.length
  for (let entries = 0; entries < MOST_LATE_ENTRIES && start > 0; entries += 1) {
    start = journal.lastIndexOf(`<${prefix}:tx `, start - 1)
    if (start < 0) break
    head.lastIndex = start
    const [, at = '', by, op] = head.exec(journal) ?? []
    if (at < sinceIso) break
    if (by === undefined || op === 'init') continue
    names.add(by)
    if (last === '') last = at
    else if (by !== later) changes += 1
    first = at
    later = by
  }
  return { names, changes, tookMs: last === '' ? 0 : Math.max(0, Date.parse(last) - Date.parse(first)) }
}

function readTransaction(values: Readonly<Record<string, string>>, changes: JournalChange[]): Transaction {
  return {
    version: naturalNumber(values.v),
    at: values.at ?? '',
    by: values.by ?? '',
    op: values.op ?? '',
    on: values.on ?? '',
    commandId: values.cmd ?? '',
    ...(values.n === undefined ? {} : { nonce: values.n }),
    hash: values.h ?? '',
    why: values.why ?? '',
    other: values.other === 'yes',
    changes,
  }
}

const HOWS: readonly string[] = ['target', 'cascade', 'close', 'join', 'gate', 'again', 'add'] satisfies ChangeCause[]

function readChange(values: Readonly<Record<string, string>>): JournalChange {
  return {
    event: values.event ?? '',
    from: values.from ?? '',
    to: values.to ?? '',
    how: HOWS.includes(values.how ?? '') ? (values.how as ChangeCause) : 'target',
    ...(values.owner === undefined ? {} : { owner: values.owner }),
    ...(values.attempt === undefined ? {} : { attempt: naturalNumber(values.attempt) }),
    ...(values.attr === undefined ? {} : { attr: values.attr }),
    ...(values.lc === undefined ? {} : { lc: parseLc(values.lc) }),
  }
}

function naturalNumber(text: string | undefined): number {
  return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : 0
}
