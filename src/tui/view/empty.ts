import { calmSpan, spacedCount, spacedCounted } from '../../formats/terminal/numbers.ts'
import type { Style } from '../../formats/terminal/style.ts'
import type { Scene } from '../state/context.ts'
import { type Area, BLANK, rowOf, type ScreenRow } from './row.ts'
import { safeText } from './safe-text.ts'
import { silenceMs } from './title.ts'

/** The text in place of a list without rows: the reason and advice. */
export function emptyRows(
  area: Area,
  text: string,
  advice: readonly string[] = [],
  style: Style = 'plain',
): ScreenRow[] {
  const lines = [rowOf([[`  ${text}`, style]], area.columns)]
  for (const line of advice) lines.push(rowOf([[`  ${line}`, 'dim']], area.columns))
  return area.rows > lines.length + 2 ? [BLANK, ...lines] : lines
}

/** There is no stream to show. */
export function noStreams(scene: Scene, area: Area): ScreenRow[] {
  const { facts, listing } = scene
  const waiting = waitingRows(scene, area)
  if (waiting !== undefined) return waiting
  if (listing.total > 0) return noMatch(scene, area, 'stream')
  if (scene.data.streams.size > 0 || facts.selection !== '')
    return emptyRows(area, `no stream passes ${safeText(facts.selection)}`, ['start top without it to see the others'])
  return emptyRows(area, `no streams in ${facts.address}`, [
    'leasectl init orders/4711 --fork Search,Pay   creates one',
    'leasectl demo   plays a whole order',
  ])
}

/** No row matches the filter. */
export function noMatch({ state, listing }: Scene, area: Area, what: string): ScreenRow[] {
  const { filter: typed, onlyBroken } = state.lists[state.screen]
  if (onlyBroken && typed === '')
    return emptyRows(area, `nothing is broken: ${spacedCounted(listing.total, what)}`, ['F shows all'], 'good')
  const filter = safeText(typed)
  return emptyRows(area, `no ${what} of ${spacedCount(listing.total)} matches "${filter}"`, ['esc clears the filter'])
}

/** While the first poll runs, or no poll has succeeded yet; `undefined` afterwards. */
export function waitingRows({ data, facts, nowMs }: Scene, area: Area): ScreenRow[] | undefined {
  const { polledMs, error } = data.freshness
  if (error !== undefined && polledMs === undefined && data.streams.size === 0) {
    return emptyRows(
      area,
      `${facts.address} cannot be read: ${safeText(error.message)}`,
      ['retrying; r retries now, q quits'],
      'bad',
    )
  }
  if (data.streams.size > 0 || data.streams.isComplete) return undefined
  const hungMs = silenceMs(data.freshness, nowMs)
  if (hungMs !== undefined) return notAnswering(area, hungMs)
  return emptyRows(area, `reading ${facts.address} …`, [], 'dim')
}

function notAnswering(area: Area, hungMs: number): ScreenRow[] {
  return emptyRows(area, `the store has not answered for ${calmSpan(hungMs)}`, ['it goes on as soon as it does'], 'bad')
}

/** In place of the open stream's events until one of its states could be read: the reason and advice. */
export function noDocument(scene: Scene, area: Area): ScreenRow[] {
  const { data, state, nowMs } = scene
  const open = data.open?.name === state.stream ? data.open : undefined
  if (open === undefined || open.presence === 'waiting') {
    const { error } = data.freshness
    const hungMs = silenceMs(data.freshness, nowMs)
    if (error === undefined && hungMs !== undefined) return notAnswering(area, hungMs)
    if (error === undefined) return state.stream === '' ? [] : emptyRows(area, 'reading it …', [], 'dim')
    return emptyRows(area, `no answer yet: ${safeText(error.message)}`, ['retrying'], 'bad')
  }
  if (open.presence === 'missing') {
    return emptyRows(area, 'no stream has this name yet', ['it appears here as soon as it exists; esc goes back'])
  }
  if (open.presence !== 'unreadable') return []
  const why = safeText(open.fault?.message ?? 'unknown reason')
  return emptyRows(area, `this is not an event stream: ${why}`, ['y shows what the blob holds'], 'warn')
}
