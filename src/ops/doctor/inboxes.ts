import type { InboxSeen } from '../check/inboxes.ts'
import { bounded, type Finding } from './finding.ts'

/** The findings about inboxes: nobody drains them, dead letters are open, or their documents cannot be read. */
export function inboxFindings(seen: readonly InboxSeen[]): readonly Finding[] {
  return bounded(seen.flatMap(findingsOf))
}

function findingsOf(inbox: InboxSeen): Finding[] {
  const { name, error } = inbox
  if (error !== undefined) {
    const message = `the inbox ${name}: ${error}`
    return [{ severity: 'error', code: 'inbox-unreadable', subject: name, message, command: ['inbox', 'show', name] }]
  }
  return [...idleFindings(inbox), ...deadFindings(inbox)]
}

function idleFindings({ name, owned, idle, partitions, records, isEstimate }: InboxSeen): Finding[] {
  if (owned > 0 && idle === 0) return []
  const what = owned === 0 ? `the inbox ${name}` : `${idle} of ${partitions} partitions of the inbox ${name}`
  const many = records === 1 ? '1 record waits' : `${isEstimate ? 'about ' : ''}${records} records wait`
  const waits = records === 0 ? 'nothing waits in it' : owned === 0 ? many : 'their records wait'
  return [
    {
      severity: records === 0 ? 'info' : 'warning',
      code: 'inbox-idle',
      subject: name,
      message: `nobody drains ${what}: ${waits}`,
      hint: 'Run inbox drain with the work of this inbox, or remove it: inbox rm.',
      command: ['inbox', 'show', name],
    },
  ]
}

function deadFindings({ name, dead }: InboxSeen): Finding[] {
  if (dead === 0) return []
  const letters = dead === 1 ? '1 dead letter' : `${dead} dead letters`
  const message = `${letters} in the inbox ${name}: nothing becomes of them until someone retries or drops them`
  const command = ['inbox', 'dead', 'ls', name]
  return [{ severity: 'warning', code: 'inbox-dead', subject: name, message, command }]
}
