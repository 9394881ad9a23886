import type { Action } from './service-log.ts'
import { STEPS } from './steps.cjs'

/** How a delivery has ended, as its stream says. */
export interface Ending {
  readonly delivery: string
  readonly status: string
  readonly outcome: string
}

/** What a service did for a delivery. */
export interface Effect extends Pick<Action, 'action' | 'key' | 'at'> {
  readonly service: string
}

/**
 * What is wrong with a delivery, nothing if it is as it has to be: either all five effects and no undo, or each effect undone
 * exactly once, in reverse order. Nothing is done twice.
 *
 * @param effects in the order of time
 */
export function faultsOf({ status, outcome }: Ending, effects: readonly Effect[]): string[] {
  const done = effects.filter(({ action }) => action === 'do')
  const undone = effects.filter(({ action }) => action === 'undo')
  const services = namesOf(done)
  const faults = STEPS.flatMap(({ service }) => {
    const times = services.filter(name => name === service).length
    return times > 1 ? [`${service} was done ${times} times`] : []
  })
  const late = undone.length > 0 && done.some(({ at }) => at > (undone[0]?.at ?? 0n))
  if (late) faults.push('something was done after the first undo')

  if (status === 'completed' && outcome === '') {
    const all = STEPS.map(({ service }) => service).join(', ')
    if (services.join(', ') !== all) faults.push(`completed, but done were: ${services.join(', ') || 'none'}`)
    if (undone.length > 0) faults.push(`completed, but undone were: ${namesOf(undone).join(', ')}`)
  } else if (status === 'aborted' && outcome === 'compensated') {
    const wanted = namesOf(done).reverse().join(', ')
    const found = namesOf(undone).join(', ')
    if (found !== wanted) faults.push(`to undo were: ${wanted || 'none'}; undone were: ${found || 'none'}`)
  } else faults.push(`its stream is ${status} ${outcome}`.trim())
  return faults
}

function namesOf(effects: readonly Effect[]): string[] {
  return effects.map(({ service }) => service)
}
