import { randomUUID } from 'node:crypto'
import type { StreamStore } from '../../src/store/store.ts'
import { change, type Machine } from './worker.ts'

/** Takes explicit leases, preferably when a watchdog is about to need them. */
export async function holdLeases({ actor, trace }: Machine, base: StreamStore, everyMs: number): Promise<void> {
  const holder = { by: actor.name, host: '', pid: 0, purpose: 'by hand', sinceMs: 0 }
  for (;;) {
    await actor.pause(everyMs * actor.random.between(0.5, 1.5))
    const soonest = await soonestDue(base)
    if (soonest === undefined) continue
    await actor.pause(soonest.dueMs - base.nowMs() - actor.random.between(0, 20_000))
    const durationS = actor.random.whole(15, 60)
    const { kind } = await base.acquireLease(soonest.name, { leaseId: randomUUID(), durationS, holder })
    if (kind !== 'acquired') continue
    const atMs = actor.scheduler.nowMs
    trace.add({ kind: 'leased', atMs, who: actor.name, stream: soonest.name, untilMs: atMs + durationS * 1_000 })
  }
}

async function soonestDue(base: StreamStore): Promise<{ name: string; dueMs: number } | undefined> {
  for await (const page of base.list({ order: 'due' })) {
    const next = page.find(({ summary }) => summary?.status === 'inprocess' && (summary.dueMs ?? 0) > base.nowMs())
    if (next?.summary?.dueMs !== undefined) return { name: next.name, dueMs: next.summary.dueMs }
  }
  return undefined
}

/** An operator retries failed events; no worker claims them then. */
export async function retryFailures(machine: Machine, base: StreamStore, everyMs: number): Promise<void> {
  const { actor } = machine
  for (;;) {
    await actor.pause(everyMs * actor.random.between(0.5, 1.5))
    const failed: string[] = []
    for await (const page of base.list({})) {
      for (const { name, summary } of page) if (summary !== undefined && summary.failed > 0) failed.push(name)
    }
    const name = failed[actor.random.whole(0, failed.length - 1)]
    if (name !== undefined) await change(machine, name, { op: 'retry' })
  }
}
