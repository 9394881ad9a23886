import { LC_NAMESPACE } from '../../stream/event.ts'
import { findForeignWrite, highestVersion } from '../../stream/journal/history.ts'
import { MAX_WRITTEN_BYTES, MAX_WRITTEN_EVENTS } from '../../stream/limits.ts'
import { summarize } from '../../stream/summarize.ts'
import { commandWords } from '../../util/strings.ts'
import type { Examined } from './examined-stream.ts'
import { type Finding, idList, quoted, sizeText } from './finding.ts'

const MIB = 1024 * 1024

/** What is to be said of a stream as a whole: its size, its history, and what lies beside the document. */
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
      message: `${size} (${count} events, some ${journal} of history): every heartbeat writes all of it again`,
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
  const seen = highestVersion(document, stored.versionFloor)
  if (seen <= version) return
  const isOlderCopy = findForeignWrite(document, stored.versionFloor)?.isOlderCopy === true
  yield {
    severity: 'warning',
    code: version === 0 ? 'history-lost' : 'version-back',
    subject: '',
    message:
      version === 0
        ? `there was a version ${seen} once, but the document has no history any more: another program left it out`
        : `the document stands at version ${version}, but there was a version ${seen}: an older copy was put back`,
    hint: isOlderCopy
      ? `The next change records it and goes on behind version ${seen}; claims of before count no more.`
      : `The next change goes on behind version ${seen}.`,
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
      message: `there are ${others.length + 1} journals; the last one counts, the others are kept and not read`,
      hint: 'Something put two documents together, or an event behind the journal. show -o xml shows it.',
    }
  }
  if (document.sum === '' || document.sum.startsWith('1:')) return
  yield {
    severity: 'warning',
    code: 'sum-unknown',
    subject: '',
    message: `the checksum is of a kind that this leasectl does not know (${quoted(document.sum)}): writes of others go unnoticed`,
    hint: 'A newer leasectl wrote it: use that one.',
  }
}

function holdsJournal(raw: string, prefix: string): boolean {
  if (!raw.includes('journal')) return false
  return raw.includes(`<${prefix}:journal`) || (raw.includes(LC_NAMESPACE) && /<([\w.-]+:)?journal[\s/>]/.test(raw))
}

/** What writers that keep no journal have done, and what that means for the summary beside the document. */
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
    const message = 'no leasectl has written it yet: it has no history; the next change begins it'
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
        ? 'no summary beside it, as another program wrote last: every listing reads the whole document'
        : 'no summary beside it though leasectl wrote last: metadata of others leave no room for it (8 KiB in all), or somebody removed it. Every listing reads the whole document',
      hint: isForeign
        ? 'The next change writes one.'
        : 'Remove metadata of the blob that are not needed; the next change writes one.',
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
    message: `the summary beside it is not of this document: listings show another ${differing.join(', ')}`,
    hint: 'Somebody wrote past leasectl. The next change writes a fresh one.',
  }
}

function* leaseFindings({ name, stored: { lease } }: Examined): Generator<Finding> {
  if (lease.state !== 'leased' || lease.duration !== 'infinite') return
  const { holder } = lease
  yield {
    severity: 'warning',
    code: 'infinite-lease',
    subject: '',
    message: `leased for good${holder === undefined ? '' : ` by ${quoted(holder.by)}, ${quoted(holder.purpose)}`}: nobody else can change it`,
    command: commandWords(['lease', 'show'], [name]),
  }
}
