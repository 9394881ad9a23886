import { isFinal } from '../../stream/event.ts'
import { findForeignWrite } from '../../stream/journal/history.ts'
import { parseJournal, type Transaction } from '../../stream/journal/journal.ts'
import { changesSuspension } from '../../stream/journal/suspensions.ts'
import { suspensionOf } from '../../stream/suspension.ts'
import { formatDuration } from '../../stream/time/durations.ts'
import { suspendedSinceMs } from '../../stream/time/pauses.ts'
import { commandWords } from '../../util/strings.ts'
import type { Examined } from './examined-stream.ts'
import { type Finding, idList, quoted } from './finding.ts'

/** Findings about a suspended stream, and about events that other programs went on with meanwhile. */
export function* suspensionFindings(subject: Examined): Generator<Finding> {
  const { stream, read, nowMs, name } = subject
  const suspension = suspensionOf(stream)
  if (suspension !== undefined) {
    const { at, by, why } = suspension
    const sinceMs = suspendedSinceMs(stream, read)
    if (sinceMs === undefined) yield unreadableTime(at)
    yield {
      severity: 'info',
      code: 'suspended',
      subject: '',
      message: `suspended${sinceMs === undefined ? '' : ` for ${formatDuration(Math.max(0, nowMs - sinceMs))}`}${by === '' ? '' : ` by ${quoted(by)}`}${why === '' ? '' : `: ${quoted(why)}`}`,
      command: commandWords(['resume'], [name]),
    }
  }
  const ids = wentOn(subject)
  if (ids.length === 0) return
  yield {
    severity: 'warning',
    code: 'went-on',
    subject: '',
    message: `another program went on while the stream was suspended: ${idList(ids)}`,
    hint: 'Programs of the 2013 library know no suspension: stop them too.',
  }
}

function unreadableTime(at: string): Finding {
  return {
    severity: 'warning',
    code: 'bad-suspension',
    subject: '',
    message: `the time ${quoted(at)} since which it is suspended cannot be read: resume adds nothing to its limits`,
  }
}

/** Ids of the events whose status another program changed in the present suspension, or in one that it ended. */
function wentOn({ document, stored, root }: Examined): readonly string[] {
  const transactions = parseJournal(document.journal, document.prefix)
  const unrecorded = findForeignWrite(document, stored.versionFloor)
  const ids = new Set<string>()
  let isSuspended = false
  const see = (op: string, changes: Transaction['changes']) => {
    const isForeign = op === 'foreign'
    for (const change of changes) {
      if (changesSuspension(change)) {
        isSuspended = op === 'suspend'
        ids.clear()
      } else if (change.attr !== undefined) continue
      else if (isForeign && isSuspended) ids.add(change.event)
      if (!isForeign && change.event === root.id && change.attr === undefined && isFinal({ status: change.to })) {
        isSuspended = false
        ids.clear()
      }
    }
  }
  for (const { op, changes } of transactions) see(op, changes)
  if (unrecorded !== undefined) see(unrecorded.op, unrecorded.changes)
  return [...ids]
}
