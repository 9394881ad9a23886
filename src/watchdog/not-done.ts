import type { PassReport } from './report.ts'

/**
 * Whether a pass carried out what it wanted. `nothing`: the store let none of its decisions, so the watchdog sees and cannot
 * act. `undefined`: it tells nothing, for it wanted nothing and yet something is past its limit.
 */
export function doneBy({ kind, outcomes, overdue }: PassReport): 'some' | 'nothing' | undefined {
  const all = Object.values(outcomes).reduce((sum, count) => sum + count, 0)
  if (all === 0) return kind === 'sweep' && overdue === 0 ? 'some' : undefined
  return (outcomes.failed ?? 0) + (outcomes.unknown ?? 0) === all ? 'nothing' : 'some'
}
