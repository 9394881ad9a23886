import { healthOf, type StreamHealth } from '../../formats/listing/health.ts'
import { spacedCount, spacedCounted } from '../../formats/terminal/numbers.ts'
import type { Style } from '../../formats/terminal/style.ts'
import { cutInside, widthOf } from '../../formats/terminal/width.ts'
import { addChanges } from '../data/activity-rate.ts'
import { RATE_SLOTS, type StreamTable } from '../data/types.ts'
import type { Scene } from '../state/context.ts'
import { HEALTH_PARTS, type HealthWord } from '../state/health-parts.ts'
import { joined, rowOf, type ScreenRow, type StyledText, widthOfSpans } from './row.ts'
import { safeText } from './safe-text.ts'

/** The line of health: how many streams there are, how they are, and how much changes. */
export function healthRow(scene: Scene): ScreenRow {
  const { columns } = scene.state.size
  const health = currentHealth(scene.data.streams, scene.nowMs)
  const parts = healthParts(health)
  const { size, isComplete } = scene.data.streams
  if (size === 0 && !isComplete) return withAddress(scene, [[' reading the streams …', 'dim']])
  const total: StyledText = [`${spacedCounted(size, 'stream')}${isComplete ? '' : ' so far'}`, 'strong']
  const rate = rateSpans(health.changes, scene.nowMs)
  const short: StyledText = [spacedCount(size), 'strong']
  const forms = FORMS.map(({ isNamed, rateParts, isShort }) =>
    lineOf(isShort ? short : total, parts, isNamed, rate.slice(rate.length - rateParts)),
  )
  return withAddress(scene, forms.find(spans => widthOfSpans(spans) <= columns) ?? tightLine(short, parts, columns))
}

interface HealthPart {
  readonly glyph: string
  readonly count: number
  readonly word: string
  readonly style: Style
  readonly isBroken?: true
}

interface HealthForm {
  readonly isNamed: (part: HealthPart) => boolean
  /** The bars and the number, the number alone, nothing. */
  readonly rateParts: 2 | 1 | 0
  /** The total without its word. */
  readonly isShort?: true
}

const all = () => true
const broken = ({ isBroken }: HealthPart) => isBroken === true
const none = () => false

/** From wide to narrow: the words of all numbers, of those of broken streams, of none. The rate is dropped last. */
const FORMS: readonly HealthForm[] = [
  { isNamed: all, rateParts: 2 },
  { isNamed: broken, rateParts: 2 },
  { isNamed: broken, rateParts: 1 },
  { isNamed: none, rateParts: 2 },
  { isNamed: none, rateParts: 1 },
  { isNamed: none, rateParts: 1, isShort: true },
]

function healthParts(health: StreamHealth): readonly HealthPart[] {
  return HEALTH_PARTS.map(({ glyph, word }) => ({ glyph, word, ...LOOKS[word], count: health[word] })).filter(
    ({ count, word }) => count > 0 || word === 'open',
  )
}

const LOOKS: { readonly [Word in HealthWord]: Pick<HealthPart, 'style' | 'isBroken'> } = {
  open: { style: 'plain' },
  failed: { style: 'bad', isBroken: true },
  abandoned: { style: 'warn', isBroken: true },
  overdue: { style: 'warn', isBroken: true },
  blocked: { style: 'bad', isBroken: true },
  suspended: { style: 'warn' },
  unreadable: { style: 'warn', isBroken: true },
  canceled: { style: 'plain' },
  completed: { style: 'plain' },
}

/** The streams of the store in numbers. */
interface StoreHealth extends StreamHealth {
  /** Streams with a limit that can end something. */
  readonly limited: number
  /** Changes in each of the last time slots, the latest last. */
  readonly changes: readonly number[]
}

interface KnownHealth {
  readonly revision: number
  readonly membership: number
  readonly nowMs: number
  /** When a limit or a claim ends next; until then nothing changes without a write. The moment itself while the bars move. */
  readonly untilMs: number
  readonly health: StoreHealth
}

const KNOWN = new WeakMap<StreamTable, KnownHealth>()

/** Counted when streams come or go, else at most once a second, when it can have changed: it takes a look at every stream. */
export function currentHealth(table: StreamTable, nowMs: number): StoreHealth {
  const known = KNOWN.get(table)
  if (known !== undefined && isCurrent(known, table, nowMs)) return known.health
  const changes = new Array<number>(RATE_SLOTS.count).fill(0)
  let limited = 0
  let endMs = Number.POSITIVE_INFINITY
  for (const entry of table.values()) {
    const { dueMs, claimEndMs } = entry.item.summary ?? {}
    if (dueMs !== undefined) limited++
    if (dueMs !== undefined && dueMs > nowMs) endMs = Math.min(endMs, dueMs)
    if (claimEndMs !== undefined && claimEndMs > nowMs) endMs = Math.min(endMs, claimEndMs)
    addChanges(changes, entry, nowMs)
  }
  const { revision, membership } = table
  const health = { ...healthOf(itemsOf(table), nowMs), limited, changes }
  const untilMs = changes.some(count => count > 0) ? nowMs : endMs
  KNOWN.set(table, { revision, membership, nowMs, untilMs, health })
  return health
}

function isCurrent(known: KnownHealth, { revision, membership }: StreamTable, nowMs: number): boolean {
  if (known.membership !== membership) return false
  return known.nowMs === nowMs || (known.revision === revision && known.nowMs < nowMs && nowMs < known.untilMs)
}

function* itemsOf(table: StreamTable) {
  for (const { item } of table.values()) yield item
}

function lineOf(
  total: StyledText,
  parts: readonly HealthPart[],
  isNamed: (part: HealthPart) => boolean,
  rate: readonly StyledText[] = [],
): StyledText[] {
  const texts = parts.map((part): StyledText[] => {
    const { glyph, count, word, style } = part
    return [[`${glyph} ${spacedCount(count)}${isNamed(part) ? ` ${word}` : ''}`, style]]
  })
  return [[' ', 'plain'], ...joined([[total], ...texts, rate], '  ')]
}

/** Where nothing else fits: as many whole numbers as there is room for. */
function tightLine(total: StyledText, parts: readonly HealthPart[], columns: number): StyledText[] {
  const texts = parts.map(({ glyph, count, style }): StyledText[] => [[`${glyph}${spacedCount(count)}`, style]])
  const line = (count: number): StyledText[] => [[' ', 'plain'], ...joined([[total], ...texts.slice(0, count)], ' ')]
  let count = texts.length
  while (count > 0 && widthOfSpans(line(count)) > columns) count--
  return line(count)
}

/** `▂▃▅ 52/s`: the changes of all streams, and how many a second since the last slot began; nothing without changes. */
function rateSpans(changes: readonly number[], nowMs: number): readonly StyledText[] {
  if (changes.every(count => count === 0)) return []
  const most = Math.max(...changes)
  const bars = changes.map(count => BARS.charAt(count === 0 ? 0 : Math.ceil((count / most) * (BARS.length - 1))))
  const seconds = (RATE_SLOTS.slotMs + (nowMs % RATE_SLOTS.slotMs)) / 1_000
  const rate = ((changes.at(-1) ?? 0) + (changes.at(-2) ?? 0)) / seconds
  const text = rate >= 10 ? spacedCount(Math.round(rate)) : rate.toFixed(1)
  return [
    [`${bars.join('')} `, 'active'],
    [`${text}/s`, 'plain'],
  ]
}

const BARS = '▁▂▃▄▅▆▇█'

/** With the store's address at the right, if there is room. */
function withAddress({ state, facts }: Scene, left: readonly StyledText[]): ScreenRow {
  const room = state.size.columns - widthOfSpans(left) - 3
  const address = cutInside(safeText(facts.address), Math.max(0, room))
  if (room < LEAST_ADDRESS && widthOf(address) < widthOf(facts.address)) return rowOf(left, state.size.columns)
  const gap = ' '.repeat(Math.max(2, room + 2 - widthOf(address)))
  return rowOf([...left, [gap, 'plain'], [address, 'dim']], state.size.columns)
}

const LEAST_ADDRESS = 12
