import { describe, expect, it, onTestFinished } from 'vitest'
import type { AzureBlobOptions } from '../../../../src/store/azure/store.ts'
import { comparePositions, LOG_START, type LogPosition } from '../../../../src/store/block-log.ts'
import type { StreamStore } from '../../../../src/store/store.ts'
import { bytes, text } from '../../../contract/harness.ts'
import { openAzuriteStore, sharedAzurite } from '../../../support/azurite.ts'
import { startFaultProxy } from '../../../support/fault-proxy.ts'
import { PATIENT } from './support.ts'

const NAME = '.leasectl/log'

/** A store whose segments have three blocks, and the same over a proxy. */
async function setUp() {
  const { port } = await sharedAzurite()
  const options: Partial<AzureBlobOptions> = { ...PATIENT, blocksOfASegment: 3 }
  const direct = await openAzuriteStore(port, options)
  const proxy = await startFaultProxy({ target: { port } })
  const far = await openAzuriteStore(proxy.port, { container: direct.container, ...options })
  onTestFinished(async () => {
    proxy.heal()
    await Promise.all([direct.close(), far.close()])
    await proxy.stop()
  })
  return { direct, far, proxy }
}

async function read(store: StreamStore, from: LogPosition = LOG_START) {
  const lines: string[] = []
  for (let at = from; ; ) {
    const part = await store.log(NAME).read(at, 1_000)
    if (part.bytes.length === 0) return { lines, at }
    lines.push(...text(part.bytes).trimEnd().split('\n'))
    at = part.next
  }
}

async function appended(store: StreamStore, ...lines: readonly string[]): Promise<void> {
  const log = store.log(NAME)
  for (const line of lines) expect(await log.append(bytes(`${line}\n`))).toEqual({ kind: 'appended' })
}

const SEVEN = ['1', '2', '3', '4', '5', '6', '7']

describe('a log of several segments', () => {
  it('is read as one, and its positions ascend', async () => {
    const { direct } = await setUp()
    await appended(direct, ...SEVEN)
    expect((await read(direct)).lines).toEqual(SEVEN)
    const { first, end, bytes: size } = (await direct.log(NAME).extent()) ?? { first: LOG_START, end: LOG_START }
    expect([first.segment, end, size]).toEqual([1, { segment: 3, offset: 2 }, 14])
    expect(comparePositions(first, end)).toBeLessThan(0)
  })

  it('never gets a block behind a reader that has passed the segment, however many write', async () => {
    const { direct } = await setUp()
    const writers = Array.from({ length: 6 }, async (_, writer) => {
      for (let at = 0; at < 8; at++) await direct.log(NAME).append(bytes(`${writer}.${at}\n`))
    })
    const seen: string[] = []
    let at = LOG_START
    let isOver = false
    const over = Promise.all(writers).then(() => {
      isOver = true
    })
    for (;;) {
      const wasOver = isOver
      const found = await read(direct, at)
      seen.push(...found.lines)
      at = found.at
      if (wasOver) break
    }
    await over
    expect(seen.toSorted()).toEqual((await read(direct)).lines.toSorted())
    expect(new Set(seen).size).toBe(48)
  })

  it('goes on where a writer was stopped between sealing a segment and creating the next', async () => {
    const { direct, far, proxy } = await setUp()
    await appended(direct, '1', '2')
    proxy.add({ kind: 'error-before', on: 'put', status: 403 })
    await expect(far.log(NAME).append(bytes('3\n'))).rejects.toMatchObject({ code: 'not-permitted' })
    await appended(direct, '4')
    expect((await read(direct)).lines).toEqual(['1', '2', '3', '4'])
  })

  it('goes on in the same segment where it could not be sealed', async () => {
    const { far, proxy } = await setUp()
    proxy.add({ kind: 'error-before', on: 'acquire', status: 503, times: 3 })
    await appended(far, ...SEVEN)
    expect((await read(far)).lines).toEqual(SEVEN)
    expect((await read(far, { segment: 2, offset: 0 })).lines).toEqual(['5', '6', '7'])
  })

  it('is not written to in a trimmed segment by a writer that knows no newer one', async () => {
    const { direct, far } = await setUp()
    const old = far.log(NAME)
    await old.append(bytes('1\n'))
    await appended(direct, '2', '3', '4')
    await direct.log(NAME).trim({ segment: 2, offset: 0 })
    await old.append(bytes('5\n'))
    expect((await read(direct)).lines).toEqual(['4', '5'])
    expect((await read(direct, { segment: 1, offset: 4 })).lines).toEqual(['4', '5'])
  })

  it('is removed with its sealed segments', async () => {
    const { direct } = await setUp()
    await appended(direct, ...SEVEN)
    await direct.log(NAME).remove()
    expect(await direct.log(NAME).extent()).toBeUndefined()
    await appended(direct, '8')
    expect((await read(direct)).lines).toEqual(['8'])
  })
})

describe('an append', () => {
  it.each(['lose-answer', 'error-after', 'reset', 'duplicate'] as const)(
    'is there, at least once, if its answer is spoiled: %s',
    async kind => {
      const { direct, far, proxy } = await setUp()
      proxy.add({ kind, on: 'append', nth: 1 })
      await appended(far, '1', '2')
      const { lines } = await read(direct)
      expect([...new Set(lines)]).toEqual(['1', '2'])
    },
  )

  it('is unknown without any answer, and the store is unreachable if no request was sent', async () => {
    const { far, proxy } = await setUp()
    await appended(far, '1')
    proxy.add({ kind: 'lose-answer', on: 'append' })
    expect(await far.log(NAME).append(bytes('2\n'))).toMatchObject({ kind: 'unknown' })
    await proxy.stop()
    const outcome = await far
      .log(NAME)
      .append(bytes('3\n'))
      .catch((error: unknown) => error)
    expect(outcome).toMatchObject({ code: 'store-unreachable' })
  })

  it('is refused without rights, and the log stays as it was', async () => {
    const { direct, far, proxy } = await setUp()
    await appended(far, '1')
    proxy.add({ kind: 'error-before', on: 'append', status: 403 })
    await expect(far.log(NAME).append(bytes('2\n'))).rejects.toMatchObject({ code: 'not-permitted' })
    expect((await read(direct)).lines).toEqual(['1'])
  })
})
