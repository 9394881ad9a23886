import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8'
import type { Observer } from '../../watchdog/report.ts'

/**
 * The size up to which the space for young objects grows, after `keepHeapSmall`, while a pass changes many streams: with a
 * hundred documents in hand, collecting in the smallest space takes a third of the time.
 */
const YOUNG_BYTES = 32 * 1024 ** 2
/** Decisions between two looks at the heap. */
const DECISIONS = 16

/** Lets the heap grow while a pass changes many streams. A sweep of a million streams does without. */
export function heapObserver(): Observer {
  let executed = 0
  return {
    // V8 lets the space shrink by itself while little happens.
    began: () => setYoungGrowth(1),
    executed() {
      if (executed % DECISIONS === 0) setYoungGrowth(youngBytes() < YOUNG_BYTES ? 2 : 1)
      executed += 1
    },
  }
}

function youngBytes(): number {
  return getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space')?.space_size ?? YOUNG_BYTES
}

/** @param factor by which a collection may enlarge the space for young objects */
function setYoungGrowth(factor: 1 | 2): void {
  setFlagsFromString(`--semi-space-growth-factor=${factor}`)
}
