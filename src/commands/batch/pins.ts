import type { Problem } from '../../cli/problem.ts'
import type { Pin } from '../../stream/precondition.ts'
import type { Done } from './action.ts'

/** The pin of a stream's first change: as it was previewed, or at the version that `--if-version` names. */
export function firstPin(previewed: Pin, ifVersion: number | undefined): Pin {
  if (ifVersion === undefined) return previewed
  return { ifVersion, ...(previewed.ifBorn === undefined ? {} : { ifBorn: previewed.ifBorn }) }
}

/** The pin of the next change of the same stream: our own change before it is no surprise. */
export function pinAfter(pin: Pin, outcome: Done | Problem): Pin {
  if ('exit' in outcome || outcome.result.outcome === 'already') return pin
  // A stream that had no identity of its own was given one.
  const born = pin.ifBorn === undefined || pin.ifBorn === '' ? {} : { ifBorn: pin.ifBorn }
  return { ifVersion: outcome.result.version, ...born }
}
