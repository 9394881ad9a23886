import { calmSpan, spacedCount } from '../../formats/terminal/numbers.ts'
import { cutInside, widthOf } from '../../formats/terminal/width.ts'
import type { Freshness } from '../data/types.ts'
import type { Scene } from '../state/context.ts'
import { joined, rowOf, type ScreenRow, type StyledText, widthOfSpans } from './row.ts'
import { safeName, safeText } from './safe-text.ts'

/** The first line: place, freshness, and whether changes are unlocked. */
export function titleRow(scene: Scene): ScreenRow {
  const { columns } = scene.state.size
  const head = columns < SHORT_COLUMNS ? ' ' : ' leasectl ▸ '
  const where = placeText(scene)
  const right = fittingRight(scene, columns - Math.min(widthOf(where), LEAST_PLACE) - head.length - 3)
  const free = columns - head.length - widthOfSpans(right) - 1
  const place = cutInside(where, Math.max(0, free - 1))
  const spans: StyledText[] = [
    [head, 'plain'],
    [place, 'strong'],
    [' '.repeat(Math.max(1, free - widthOf(place))), 'plain'],
  ]
  return rowOf([...spans, ...right], columns)
}

/** Narrower screens omit the program's name. */
const SHORT_COLUMNS = 40
/** Columns kept for the name of a stream before the right side is shortened. */
const LEAST_PLACE = 16

function placeText({ state }: Scene): string {
  if (state.screen !== 'stream') return state.screen
  const name = safeName(state.stream) || 'no stream'
  return state.pane === 'tree' ? name : `${name} ▸ ${state.pane}`
}

/** As much of the right side as fits; the least important part is dropped first, the write lock last. */
function fittingRight(scene: Scene, room: number): StyledText[] {
  const parts = [
    { rank: 2, span: freshnessSpan(scene) },
    { rank: 3, span: timeSpan(scene) },
    { rank: 1, span: protectedSpan(scene) },
    { rank: 0, span: writesSpan(scene) },
  ].filter(({ span }) => span[0] !== '')
  for (let most = 3; most >= 0; most -= 1) {
    const spans = joined(
      parts.filter(({ rank }) => rank <= most).map(({ span }) => [span]),
      '  ',
    )
    if (most === 0 || widthOfSpans(spans) <= room) return spans
  }
  return []
}

/** `● live 1s`: the interval, which is constant, instead of the age; the age is shown once it exceeds two intervals. */
function freshnessSpan({ data, state, liveRevision, nowMs }: Scene): StyledText {
  const { polledMs, isSlow, intervalMs, error, store } = data.freshness
  const where = store === undefined ? '' : ` ${safeText(store)}`
  const hungMs = silenceMs(data.freshness, nowMs)
  if (state.frozen !== undefined) {
    const pending = Math.max(0, liveRevision - state.frozen.revision)
    return [`❄ frozen${oldText(data.freshness, nowMs, ' ')}, ${spacedCount(pending)} pending`, 'active']
  }
  if (error !== undefined)
    return [`✗${where} stale${polledMs === undefined ? '' : ` ${calmSpan(nowMs - polledMs)}`}`, 'bad']
  if (hungMs !== undefined) return [`✗${where} no answer ${calmSpan(hungMs)}`, 'bad']
  if (polledMs === undefined) return ['◌ reading…', 'dim']
  const old = oldText(data.freshness, nowMs, '')
  if (old !== '') return [`◌ ${old} old`, 'warn']
  return isSlow ? [`● slow ${intervalText(intervalMs)}`, 'warn'] : [`● live ${intervalText(intervalMs)}`, 'good']
}

/** A poll that takes longer is told as trouble, ms. */
const HUNG_MS = 5_000

/** For how long the store has not answered the running poll, if that is much longer than usual. */
export function silenceMs({ waitingSinceMs, intervalMs }: Freshness, nowMs: number): number | undefined {
  if (waitingSinceMs === undefined) return undefined
  const silentMs = nowMs - waitingSinceMs
  return silentMs > Math.max(HUNG_MS, intervalMs) ? silentMs : undefined
}

/** The age of the data if it exceeds two intervals. */
function oldText({ polledMs, intervalMs }: Freshness, nowMs: number, before: string): string {
  if (polledMs === undefined) return ''
  const oldMs = nowMs - polledMs
  return oldMs > 2 * intervalMs + 1_000 ? `${before}${calmSpan(oldMs)}` : ''
}

function intervalText(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)}ms`
  return calmSpan(Math.round(ms / 1_000) * 1_000)
}

function timeSpan({ state }: Scene): StyledText {
  return [state.time === 'relative' ? '' : state.time === 'utc' ? 'UTC' : 'local', 'dim']
}

function protectedSpan({ facts }: Scene): StyledText {
  return [facts.isProtected ? 'PROTECTED' : '', 'warn']
}

function writesSpan({ state: { writes }, nowMs }: Scene): StyledText {
  if (writes.kind !== 'unlocked' || writes.untilMs <= nowMs) return ['READ-ONLY', 'plain']
  const leftMs = writes.untilMs - nowMs
  return [`WRITES ${leftMs < 60_000 ? calmSpan(leftMs) : `${Math.ceil(leftMs / 60_000)}m`}`, 'bad']
}
