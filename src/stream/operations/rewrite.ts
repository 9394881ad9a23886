import { hash } from 'node:crypto'
import type { StreamDocument } from '../document.ts'
import { fenceOf, isFinal } from '../event.ts'
import { EventStream } from '../event-stream.ts'
import { sumOf } from '../fingerprint.ts'
import { CLAIM, type ForeignWrite, findForeignWrite, withoutEndedClaims } from '../journal/history.ts'
import { appendTransaction, findCommand, type JournalChange, parseJournal } from '../journal/journal.ts'
import { writeDocument } from '../xml/write.ts'
import { type Applied, checkPrecondition, type OperationContext, resultFromJournal } from './apply.ts'
import { type Authorship, type ChangeResult, NOTHING_CHANGED, type RefusalCode } from './operation.ts'
import { checkSize, correctTimes, entryOf, openTransaction, recordSettling, withEntry } from './transaction.ts'

/**
 * Replaces all events of a document by those of another, as a foreign writer would, but with an author: the journal, the version
 * and the incarnation of the stored document stay, and one `foreign` entry records what changed. Claims that the stored
 * document does not have are not taken over: their holders may have lost them since.
 */
export function rewrite(
  document: StreamDocument,
  given: StreamDocument,
  author: Authorship,
  context: OperationContext,
): Applied {
  const commandHash = hash('sha256', writeDocument(withoutRecord(given)).text, 'hex').slice(0, 16)
  const first = findCommand(document.journal, document.prefix, author.commandId)
  if (first !== undefined) {
    if (first.hash === commandHash && first.op === 'foreign')
      return { kind: 'unchanged', result: resultFromJournal(document, first, context.nonce) }
    const message = `the command id ${first.commandId} was used for "${`${first.op} ${first.on}`.trim()}" in version ${first.version}; give another one`
    return refused('command-id-reused', message)
  }
  if (document.events.length === 0) return refused('not-started', 'the document holds no event yet; init starts it')
  const foreign = findForeignWrite(document, context.versionFloor)
  const broken = checkPrecondition(document, context, foreign)
  if (broken !== undefined) return { kind: 'refused', refusal: broken }
  const base = recordSettling(openTransaction(document, context, foreign)).finish()
  const next = inPlaceOf(base, given)
  if (writeDocument(next).text === writeDocument({ ...base, sum: next.sum }).text)
    return { kind: 'unchanged', result: { ...NOTHING_CHANGED, version: document.version, done: isDone(document) } }
  const write = writeOf(base, next)
  const { commandId, by, why = '' } = author
  const { nonce } = context
  const entry = {
    ...entryOf({ ...write, why }, base.at, base.version + 1),
    ...{ commandId, by, hash: commandHash },
    ...(nonce === undefined ? {} : { nonce }),
  }
  const written = { ...withEntry(next, entry), events: withoutEndedClaims(next.events, write.changes) }
  const draft = openTransaction(written, { ...context, versionFloor: entry.version }, undefined)
  correctTimes(draft)
  const settled = recordSettling(draft).finish()
  const full = checkSize(settled, true)
  if (full !== undefined) return { kind: 'refused', refusal: full }
  const result: ChangeResult = {
    ...NOTHING_CHANGED,
    ...{ outcome: 'done', version: settled.version, done: isDone(settled) },
    changed: entry.changes.map(({ event, from, to, how }) => ({ id: event, from, to, how })),
    added: entry.changes.filter(({ how, from }) => how === 'add' && from === '').map(({ event }) => event),
  }
  return { kind: 'changed', document: settled, result }
}

function isDone({ events: [root] }: StreamDocument): boolean {
  return root !== undefined && isFinal(root)
}

/** Without what the stored document keeps of its own. */
function withoutRecord(given: StreamDocument): StreamDocument {
  return { ...given, version: 0, born: '', at: '', sum: '', dates: '', journal: '' }
}

/** The given document with the record of the stored one, in the namespace prefix of the given one. */
function inPlaceOf(base: StreamDocument, given: StreamDocument): StreamDocument {
  const { version, born, at, dates, events } = base
  const journal =
    given.prefix === base.prefix
      ? base.journal
      : parseJournal(base.journal, base.prefix).reduce(
          (text, entry) => appendTransaction(text, entry, given.prefix),
          '',
        )
  return { ...given, version, born, at, dates, journal, sum: sumOf(events) }
}

function writeOf(base: StreamDocument, next: StreamDocument): ForeignWrite {
  const found = findForeignWrite(next, base.version)
  const changes = [...(found?.changes ?? []), ...lostClaims(base, next)]
  return { op: 'foreign', changes, other: changes.length === 0, why: '', isOlderCopy: false }
}

function lostClaims(base: StreamDocument, next: StreamDocument): JournalChange[] {
  const stored = EventStream.of(base.events)
  return next.events.flatMap(event => {
    const before = stored.find(event.id)
    const isSame = before !== undefined && fenceOf(before) === fenceOf(event) && before.lc.until === event.lc.until
    if (event.lc.fence === undefined || isFinal(event) || isSame) return []
    return [{ event: event.id, from: event.status, to: event.status, how: 'target', attr: CLAIM } as const]
  })
}

function refused(code: RefusalCode, message: string): Applied {
  return { kind: 'refused', refusal: { code, event: '', status: '', message } }
}
