import { healthOf, type StreamHealth } from '../../formats/listing/health.ts'
import { counted, countText } from '../../formats/terminal/numbers.ts'
import type { Style } from '../../formats/terminal/style.ts'
import { cutInside, widthOf } from '../../formats/terminal/width.ts'
import type { StreamTable } from '../data/types.ts'
import type { Scene } from '../state/context.ts'
import { joined, rowOf, type ScreenRow, type StyledText, widthOfSpans } from './row.ts'
import { safeText } from './safe-text.ts'

/** The second line of the streams screen: how many there are, and how they are. */
export function healthRow(scene: Scene): ScreenRow {
  const { columns } = scene.state.size
  const parts = healthParts(scene)
  const { size, isComplete } = scene.data.streams
  const total: StyledText = [`${counted(size, 'stream')}${isComplete ? '' : ' so far'}`, 'strong']
  const forms = FORMS.map(isNamed => lineOf(total, parts, isNamed))
  const left =
    forms.find(spans => widthOfSpans(spans) <= columns) ?? lineOf([countText(size), 'strong'], parts, () => false)
  return withAddress(scene, left)
}

interface HealthPart {
  readonly glyph: string
  readonly count: number
  readonly word: string
  readonly style: Style
  readonly isBroken?: true
}

/** The words of all numbers, of those of broken streams, of none. */
const FORMS: readonly ((part: HealthPart) => boolean)[] = [() => true, ({ isBroken = false }) => isBroken, () => false]

function healthParts({ data, nowMs }: Scene): readonly HealthPart[] {
  const health = currentHealth(data.streams, nowMs)
  return PARTS.map(part => ({ ...part, count: health[part.word] })).filter(
    ({ count, word }) => count > 0 || word === 'open',
  )
}

const PARTS: readonly (Omit<HealthPart, 'count'> & { readonly word: keyof StreamHealth })[] = [
  { glyph: '▶', word: 'open', style: 'plain' },
  { glyph: '✗', word: 'failed', style: 'bad', isBroken: true },
  { glyph: '†', word: 'abandoned', style: 'warn', isBroken: true },
  { glyph: '!', word: 'overdue', style: 'warn', isBroken: true },
  { glyph: '?', word: 'unreadable', style: 'warn', isBroken: true },
  { glyph: '⊘', word: 'canceled', style: 'plain' },
  { glyph: '✓', word: 'completed', style: 'plain' },
]

interface KnownHealth {
  readonly membership: number
  readonly nowMs: number
  readonly health: StreamHealth
}

const KNOWN = new WeakMap<StreamTable, KnownHealth>()

/** Counted once a second, and when streams come or go: it takes a look at every stream. */
export function currentHealth(table: StreamTable, nowMs: number): StreamHealth {
  const known = KNOWN.get(table)
  if (known !== undefined && known.membership === table.membership && known.nowMs === nowMs) return known.health
  const health = healthOf(itemsOf(table), nowMs)
  KNOWN.set(table, { membership: table.membership, nowMs, health })
  return health
}

function* itemsOf(table: StreamTable) {
  for (const { item } of table.values()) yield item
}

function lineOf(total: StyledText, parts: readonly HealthPart[], isNamed: (part: HealthPart) => boolean): StyledText[] {
  const texts = parts.map((part): StyledText[] => {
    const { glyph, count, word, style } = part
    return [[`${glyph} ${countText(count)}${isNamed(part) ? ` ${word}` : ''}`, style]]
  })
  return [[' ', 'plain'], ...joined([[total], ...texts], '  ')]
}

/** With the store's address at the right, if there is room. */
function withAddress({ state, facts }: Scene, left: readonly StyledText[]): ScreenRow {
  const room = state.size.columns - widthOfSpans(left) - 3
  const address = cutInside(safeText(facts.address), Math.max(0, room))
  if (room < LEAST_ADDRESS && widthOf(address) < widthOf(facts.address)) return rowOf(left, state.size.columns)
  const gap = ' '.repeat(Math.max(2, room + 2 - widthOf(address)))
  return rowOf([...left, [gap, 'plain'], [address, 'dim']], state.size.columns)
}

const LEAST_ADDRESS = 12
