import { countText } from './terminal/numbers.ts'

/** Deliveries a second: `0.4/s`. */
export function rateText(rate: number): string {
  return `${rate < 10 ? rate.toFixed(1) : countText(Math.round(rate))}/s`
}

/** A shard and who runs it. */
interface RunShard {
  readonly shard: number
  readonly isHeld: boolean
  readonly by: string
  readonly host: string
}

/** Who runs shards now, each once. */
export function runnersOf(shards: readonly RunShard[]): readonly string[] {
  return [...new Set(shards.flatMap(({ isHeld, by, host }) => (isHeld ? [by || host] : [])))].sort()
}

/** Who runs which shards: `worker@a 0-3,6`, and last the shards that nobody runs. */
export function sharingOf(shards: readonly RunShard[]): readonly string[] {
  const numbersOf = (isMeant: (shard: RunShard) => boolean) => ranges(shards.filter(isMeant).map(({ shard }) => shard))
  const runners = runnersOf(shards).map(
    runner => `${runner} ${numbersOf(({ isHeld, by, host }) => isHeld && (by || host) === runner)}`,
  )
  const left = numbersOf(({ isHeld }) => !isHeld)
  if (left === '') return runners
  return [...runners, runners.length === 0 ? 'nobody' : `nobody ${left}`]
}

/** `0-3,6` of rising numbers. */
function ranges(numbers: readonly number[]): string {
  const found: { from: number; to: number }[] = []
  for (const number of numbers) {
    const last = found.at(-1)
    if (last !== undefined && last.to === number - 1) last.to = number
    else found.push({ from: number, to: number })
  }
  return found.map(({ from, to }) => (from === to ? String(from) : `${from}-${to}`)).join(',')
}
