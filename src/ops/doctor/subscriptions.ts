import type { SubscriptionSeen } from '../check/subscriptions.ts'
import { bounded, type Finding } from './finding.ts'

/** The findings about subscriptions: nobody runs them, streams are parked, or their documents cannot be read. */
export function subscriptionFindings(seen: readonly SubscriptionSeen[]): readonly Finding[] {
  return bounded(seen.flatMap(findingsOf))
}

function findingsOf({ name, error, held, shards, parked }: SubscriptionSeen): Finding[] {
  if (error !== undefined) {
    const message = `the subscription ${name} cannot be read: ${error}`
    return [{ severity: 'error', code: 'subscription-unreadable', subject: name, message }]
  }
  return [...idleFindings(name, held, shards), ...parkedFindings(name, parked)]
}

function idleFindings(name: string, held: number, shards: number): Finding[] {
  if (held === shards) return []
  const what =
    held === 0 ? `the subscription ${name}` : `${shards - held} of ${shards} shards of the subscription ${name}`
  const message = `nobody runs ${what}: its transactions wait`
  const hint = 'Run subscribe with its name and filters, or remove it: subscription rm.'
  const command = ['subscription', 'show', name]
  return [{ severity: 'warning', code: 'subscription-idle', subject: name, message, hint, command }]
}

function parkedFindings(name: string, parked: number): Finding[] {
  if (parked === 0) return []
  const streams = parked === 1 ? '1 stream is parked' : `${parked} streams are parked`
  const message = `${streams} in the subscription ${name}: they do not go on until someone decides`
  const command = ['subscription', 'parked', name]
  return [{ severity: 'warning', code: 'subscription-parked', subject: name, message, command }]
}
