import { upcoming } from '../../ops/watchdog-state/upcoming.ts'
import type { Scene } from '../state/context.ts'
import { emptyRows, noMatch, waitingRows } from './empty.ts'
import { filled } from './fit.ts'
import { type Area, BLANK, type Row } from './row.ts'
import { isTiny } from './streams.ts'
import { dogRows, troubleRows } from './watchdog-dogs.ts'
import { decisionRows, dryRunRows, nextRows } from './watchdog-parts.ts'

/** The watchdogs, what ends next (the list with the cursor), what was decided last, what a pass would do now. */
export function watchdogRows(scene: Scene, area: Area): Row[] {
  const waiting = waitingRows(scene, area)
  if (waiting !== undefined) return filled(waiting, area)
  if (isTiny(scene)) return filled(nextPart(scene, area), area)
  const dogs = dogsPart(scene, area)
  let free = area.rows - dogs.length - 1
  // The list with the cursor is never left out; the others are where they would leave too little of it.
  const others = [
    dryRunRows(scene, { ...area, rows: Math.max(4, Math.floor(area.rows / 3)) }),
    decisionRows(scene, { ...area, rows: Math.max(3, Math.floor(area.rows / 4)) }),
  ].filter(part => {
    if (part.length === 0 || free - part.length - 1 < LEAST_NEXT) return false
    free -= part.length + 1
    return true
  })
  const sections = [dogs, nextPart(scene, { ...area, rows: free }), ...others]
  return filled(
    sections.flatMap((rows, at) => (at === 0 ? rows : [BLANK, ...rows])),
    area,
  )
}

/** Title and three rows. */
const LEAST_NEXT = 4

function dogsPart(scene: Scene, area: Area): Row[] {
  const { state } = scene.data.watchdog
  if (state === undefined) return emptyRows({ ...area, rows: 1 }, 'reading what watchdogs wrote …', [], 'dim')
  if (state.watchdogs.length === 0) {
    return emptyRows({ ...area, rows: 2 }, 'no watchdog has ever run here: nobody ends what is past its limit', [
      'leasectl watchdog   runs one; D shows what it would do now',
    ])
  }
  const most = Math.max(2, Math.floor(area.rows / 3))
  return [...dogRows(scene, { ...area, rows: most }), ...troubleRows(scene, area).slice(0, 3)]
}

function nextPart(scene: Scene, area: Area): Row[] {
  if (scene.listing.keys.length > 0) return filled(nextRows(scene, area), area)
  if (scene.listing.total > 0) return noMatch(scene, area, 'stream').filter(row => row !== BLANK)
  const known = upcoming(scene.data.watchdog.state?.watchdogs ?? [], scene.nowMs).length
  const text = known > 0 ? 'the limits of the streams are not known yet' : 'no stream has a limit that could end'
  return emptyRows({ ...area, rows: 1 }, text, [], 'dim')
}
