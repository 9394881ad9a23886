import { pause } from '../ops/pause.ts'
import type { Timing } from './options.ts'

/** Time and chance of this machine. */
export const machineTiming: Timing = {
  monotonicMs: () => performance.now(),
  wallMs: () => Date.now(),
  random: () => Math.random(),
  pause,
}
