import { type BarSign, barSigns } from '../../../formats/stream/time-bar.ts'
import { type Extent, extentOf } from '../../../formats/stream/timeline.ts'
import type { StreamView } from '../../../ops/read-stream.ts'
import { type Course, phasesOf } from '../../../stream/journal/phases.ts'

/** What all events of a stream have been through. */
export interface Courses {
  readonly of: ReadonlyMap<string, Course>
  readonly extent: Extent
  /** The signs of its bars. */
  readonly signs: readonly BarSign[]
}

const COURSES = new WeakMap<StreamView, Courses>()

/** Worked out once for each state that was read: it costs the whole journal. */
export function coursesOf(view: StreamView): Courses {
  const known = COURSES.get(view)
  if (known !== undefined) return known
  const of = phasesOf(view.stream.events, view.transactions(), view.time)
  const made = { of, extent: extentOf(of.values()), signs: barSigns(of.values()) }
  COURSES.set(view, made)
  return made
}
