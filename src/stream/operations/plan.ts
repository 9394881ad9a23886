import { InvalidValue } from '../errors.ts'
import type { EventSpec, StepSpec } from './operation.ts'

/** A part of a plan: a step, or branches that run side by side. */
export type PlanPart =
  | {
      readonly spec: EventSpec
      /** Names of the steps that have to be completed before; without it, the part before this one. */
      readonly needs?: readonly string[]
    }
  /** Each branch is a sequence in a thread of its own. The part after them waits for all. */
  | { readonly parallel: readonly (readonly PlanPart[])[] }

/**
 * The steps of a plan, in the order of its text. The parts of a sequence follow each other in one thread.
 * @throws InvalidValue if `needs` names a step that the plan does not have, or has twice
 */
export function planSteps(parts: readonly PlanPart[]): StepSpec[] {
  const plan = new Plan()
  plan.sequence(parts, [])
  return plan.steps()
}

/** Steps that follow each other in a new thread. Their attributes are the same, but only the first waits as these say. */
export function stepSequence(names: readonly string[], attributes: Partial<EventSpec>): StepSpec[] {
  const { after: _, signal: __, delay: ___, wake: ____, ...later } = attributes
  return planSteps(names.map((name, at) => ({ spec: { ...(at === 0 ? attributes : later), name } })))
}

class Plan {
  readonly #steps: {
    readonly spec: EventSpec
    readonly thread: number
    readonly needs: readonly (number | string)[]
  }[] = []
  #threads = 0

  /** Adds the parts of a thread of its own. Returns the positions of the steps that the part after them waits for. */
  sequence(parts: readonly PlanPart[], before: readonly number[]): readonly number[] {
    const thread = this.#threads
    this.#threads += 1
    let last = before
    for (const part of parts) {
      if ('parallel' in part) {
        const from = last
        last = part.parallel.flatMap(branch => this.sequence(branch, from))
      } else {
        this.#steps.push({ spec: part.spec, thread, needs: part.needs ?? last })
        last = [this.#steps.length - 1]
      }
    }
    return last
  }

  steps(): StepSpec[] {
    const threads = [...new Set(this.#steps.map(({ thread }) => thread))]
    return this.#steps.map(({ spec, thread, needs }) => ({
      ...spec,
      // A thread whose parts are all parallel has no step of its own.
      thread: threads.indexOf(thread),
      needs: needs.map(need => (typeof need === 'number' ? need : this.#positionOf(need, spec))),
    }))
  }

  #positionOf(name: string, { name: needing }: EventSpec): number {
    const found = this.#steps.flatMap(({ spec }, at) => (spec.name === name ? [at] : []))
    const [position] = found
    if (position === undefined) throw new InvalidValue(`${needing} needs ${name}, which is not a step of the plan`)
    if (found.length > 1) throw new InvalidValue(`${needing} needs ${name}, but ${found.length} steps have this name`)
    return position
  }
}
