import type { WaitsFor } from '../stream/gate.ts'
import { visibleText } from '../util/visible-text.ts'
import { jsonTime } from './json.ts'
import { clock, span, type TimeStyle } from './terminal/numbers.ts'

/** Ids named at most. */
const MAX_IDS = 3

/** `until 14:02 (in 3h)`, `for signal approve`, `after 01.00 01.01`, `for step 6, which has not come`, `for its threads`: safe to print. */
export function waitsForText(what: WaitsFor, nowMs: number, time: TimeStyle): string {
  switch (what.kind) {
    case 'branches':
      return 'for its threads'
    case 'step':
      return `for step ${what.step}, which has not come`
    case 'after': {
      const more = what.ids.length > MAX_IDS ? ` +${what.ids.length - MAX_IDS}` : ''
      return `after ${what.ids.slice(0, MAX_IDS).map(visibleText).join(' ')}${more}`
    }
    case 'signal':
      return `for signal ${visibleText(what.name)}`
    case 'timer': {
      if (what.wakeMs === undefined) return 'until a time that cannot be read'
      const left = what.wakeMs - nowMs
      const until = `until ${clock(what.wakeMs, nowMs, time === 'relative' ? 'local' : time)}`
      return left > 0 ? `${until} (in ${span(left)})` : `${until} (${span(-left)} ago)`
    }
    default:
      return what satisfies never
  }
}

/** What an event waits for, as JSON: its kind, and the number, the ids, the signal or the time; `null` without a closed gate. */
export function waitsForJson(what: WaitsFor | undefined) {
  if (what === undefined) return null
  return {
    kind: what.kind,
    step: what.kind === 'step' ? what.step : null,
    ids: what.kind === 'after' ? what.ids : null,
    signal: what.kind === 'signal' ? what.name : null,
    until: what.kind === 'timer' ? jsonTime(what.wakeMs) : null,
  }
}
