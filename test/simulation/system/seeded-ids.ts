import crypto from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'
import { Random } from '../random.ts'

/** Runs a function with UUIDs and `Math.random` from a seed, so that they are the same in each trace. */
export async function withSeededIds<Value>(seed: string, run: () => Promise<Value>): Promise<Value> {
  const random = new Random(`ids ${seed}`)
  const [realUuid, realRandom] = [crypto.randomUUID, Math.random]
  crypto.randomUUID = () => uuidFrom(random)
  Math.random = random.fraction
  syncBuiltinESMExports()
  try {
    return await run()
  } finally {
    crypto.randomUUID = realUuid
    Math.random = realRandom
    syncBuiltinESMExports()
  }
}

function uuidFrom(random: Random): ReturnType<typeof crypto.randomUUID> {
  const hex = (digits: number) =>
    random
      .whole(0, 16 ** digits - 1)
      .toString(16)
      .padStart(digits, '0')
  return `${hex(8)}-${hex(4)}-4${hex(3)}-8${hex(3)}-${hex(6)}${hex(6)}`
}
