import { LC_NAMESPACE } from '../../stream/event.ts'
import { isComparable } from '../../stream/fingerprint.ts'
import { findForeignWrite, highestVersion } from '../../stream/journal/history.ts'
import { MAX_WRITTEN_BYTES, MAX_WRITTEN_EVENTS } from '../../stream/limits.ts'
import { summarize } from '../../stream/summarize.ts'
import { commandWords } from '../../util/strings.ts'
import type { Examined } from './examined-stream.ts'
import { type Finding, idList, quoted, sizeText } from './finding.ts'

const MIB = 1024 * 1024

/** Findings about a whole stream: its size, its history, its summary and its lease. */
export function* documentFindings(subject: Examined): Generator<Finding> {
  yield* sizeFindings(subject)
  yield* versionFindings(subject)
  yield* journalFindings(subject)
  yield* writerFindings(subject)
  yield* leaseFindings(subject)
}

function* sizeFindings({ stored, document }: Examined): Generator<Finding> {
  const count = document.events.length
  const size = sizeText(stored.size)
  if (stored.size > MAX_WRITTEN_BYTES || count > MAX_WRITTEN_EVENTS) {
    yield {
      severity: 'error',
      code: 'full',
      subject: '',
      message: `${size} and ${count} events: init, advance, retry and set are refused, ending events is still possible`,
      hint: 'End it and start a new stream.',
    }
    return
  }
  if (stored.size >= MIB) {
    const journal = sizeText(document.journal.length)
    yield {
      severity: 'warning',
      code: 'large',
      subject: '',
      message: `${size} (${count} events, some ${journal} of history): every heartbeat rewrites all of it`,
      hint: 'Use more and smaller streams, or fewer heartbeats.',
    }
  }
  if (count >= MAX_WRITTEN_EVENTS / 2) {
    const message = `${count} events; beyond ${MAX_WRITTEN_EVENTS} nothing can be added`
    yield { severity: 'warning', code: 'many-events', subject: '', message, hint: 'Use more and smaller streams.' }
  }
}

function* versionFindings({ stored, document }: Examined): Generator<Finding> {
  const { version } = document
  const highest = highestVersion(document, stored.versionFloor)
  if (highest <= version) return
  const isOlderCopy = findForeignWrite(document, stored.versionFloor)?.isOlderCopy === true
  yield {
    severity: 'warning',
    code: version === 0 ? 'history-lost' : 'version-back',
    subject: '',
    message:
      version === 0
        ? `version ${highest} existed, but the document has lost its history: another program dropped it`
        : `the document is at version ${version}, but version ${highest} existed: an older copy was restored`,
    hint: isOlderCopy
      ? `The next change records it and continues after version ${highest}; earlier claims have ended.`
      : `The next change continues after version ${highest}.`,
  }
}

function* journalFindings({ document }: Examined): Generator<Finding> {
  const others = [document.tail, ...document.events.map(event => event.before)].filter(raw =>
    holdsJournal(raw, document.prefix),
  )
  if (others.length > 0) {
    yield {
      severity: 'warning',
      code: 'several-journals',
      subject: '',
      message: `there are ${others.length + 1} journals; only the last one is read, the others are kept`,
      hint: 'A program merged two documents, or added an event after the journal. See show -o xml.',
    }
  }
  if (isComparable(document.sum)) return
  yield {
    severity: 'warning',
    code: 'sum-unknown',
    subject: '',
    message: `this leasectl does not know the kind of checksum (${quoted(document.sum)}): foreign writes go unnoticed`,
    hint: 'Another version of leasectl wrote it: use that one, or go on; the next change writes a sum that this one knows.',
  }
}

function holdsJournal(raw: string, prefix: string): boolean {
  if (!raw.includes('journal')) return false
  return raw.includes(`<${prefix}:journal`) || (raw.includes(LC_NAMESPACE) && /<([\w.-]+:)?journal[\s/>]/.test(raw))
}

/** Findings about foreign writes, and about the summary beside the document. */
function* writerFindings(subject: Examined): Generator<Finding> {
  const { document, stored } = subject
  const foreign = findForeignWrite(document, stored.versionFloor)
  const isChanged =
    foreign?.op === 'foreign' && (foreign.other || foreign.changes.some(({ attr }) => attr === undefined))
  if (foreign !== undefined && isChanged) {
    const ids = foreign.changes.filter(({ attr }) => attr === undefined).map(({ event }) => event)
    yield {
      severity: 'info',
      code: 'foreign-write',
      subject: '',
      message: `another program wrote since version ${document.version}: ${ids.length === 0 ? 'no status changed' : idList(ids)}`,
      hint: 'The next change records it.',
    }
  } else if (foreign?.op === 'adopt' && highestVersion(document, stored.versionFloor) === 0) {
    const message = 'leasectl has never written it: it has no history; the next change begins one'
    yield { severity: 'info', code: 'foreign', subject: '', message }
  }
  yield* summaryFindings(subject, foreign !== undefined)
}

function* summaryFindings(subject: Examined, isForeign: boolean): Generator<Finding> {
  const { stored, document, nowMs } = subject
  const { summary } = stored
  if (summary === undefined) {
    yield {
      severity: isForeign ? 'info' : 'warning',
      code: 'no-summary',
      subject: '',
      message: isForeign
        ? 'no summary, because another program wrote last: every listing reads the whole document'
        : 'no summary although leasectl wrote last: foreign metadata leave no room for it (8 KiB in all), or it was removed. Every listing reads the whole document',
      hint: isForeign
        ? 'The next change writes one.'
        : 'Remove unneeded metadata of the blob; the next change writes one.',
    }
    return
  }
  const now = summarize(document, { nowMs, lastModifiedMs: stored.modifiedMs, lastBy: summary.lastBy })
  const differing = (['version', 'status', 'open', 'failed', 'total'] as const).filter(
    name => now[name] !== summary[name],
  )
  if (differing.length === 0) return
  yield {
    severity: 'warning',
    code: 'stale-summary',
    subject: '',
    message: `the summary does not match the document: listings show a wrong ${differing.join(', ')}`,
    hint: 'Another program wrote the document. The next change writes a new summary.',
  }
}

function* leaseFindings({ name, stored: { lease } }: Examined): Generator<Finding> {
  if (lease.state !== 'leased' || lease.duration !== 'infinite') return
  const { holder } = lease
  yield {
    severity: 'warning',
    code: 'infinite-lease',
    subject: '',
    message: `leased without end${holder === undefined ? '' : ` by ${quoted(holder.by)}, ${quoted(holder.purpose)}`}: no other program can change it`,
    command: commandWords(['lease', 'show'], [name]),
  }
}
