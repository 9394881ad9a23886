import { youngSpace } from '../../cli/v8-flags.ts'
import type { Observer } from '../../watchdog/report.ts'

/** Decisions between two looks at the heap. */
const DECISIONS = 16

/** Lets the heap grow while a pass changes many streams. A sweep of a million streams does without. */
export async function heapObserver(): Promise<Observer> {
  const { grow, hold } = await youngSpace()
  let executed = 0
  return {
    began: hold,
    executed() {
      if (executed % DECISIONS === 0) grow()
      executed += 1
    },
  }
}
