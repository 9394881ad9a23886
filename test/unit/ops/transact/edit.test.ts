import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readStream } from '../../../../src/ops/read-stream.ts'
import { edit } from '../../../../src/ops/transact/edit.ts'
import { type TransactOptions, transact } from '../../../../src/ops/transact/transact.ts'
import type { StreamStore } from '../../../../src/store/store.ts'
import { InvalidValue } from '../../../../src/stream/errors.ts'
import type { ChangeResult, Operation } from '../../../../src/stream/operations/operation.ts'
import { anInit, aScript, briefOf, RUNS } from '../../../support/arbitraries.ts'
import { complete } from '../../../support/stream-builder.ts'
import { init, intercept, memoryStore, run, writeForeign } from '../support.ts'

const AS: TransactOptions = { commandId: 'c', by: 'tester', leaseWaitMs: 0 }

/** Without the values that are random in each call. */
async function bytes(store: StreamStore, name = 's'): Promise<string> {
  return Buffer.from((await store.read(name))?.body ?? [])
    .toString()
    .replaceAll(/ n="[0-9a-f]{8}"/g, '')
}

async function history(store: StreamStore): Promise<string[]> {
  return ((await readStream(store, 's'))?.transactions() ?? []).map(({ op, commandId }) => `${op} ${commandId}`)
}

const done = (event: string): Operation => ({ op: 'complete', event })

describe('an edit', () => {
  it('equals the same operations one by one, or writes nothing', async () => {
    let refusals = 0
    let changes = 0
    await fc.assert(
      fc.asyncProperty(anInit(), aScript('none', 12), async (start, script) => {
        const [one, other] = [memoryStore(), memoryStore()]
        const born = { born: 'b0' }
        for (const { store } of [one, other]) await run(store, 's', { ...complete(start), ...born } as Operation, AS)
        const before = await bytes(one.store)
        let step = 1
        let refused = false
        const outcome = await edit(one.store, 's', { ...AS, commandId: 'e' }, editing => {
          for (const next of script) {
            if (next.kind !== 'operation' || editing.results.length >= 90) continue
            editing.apply(complete(briefOf(next.choice, editing.document.events)))
          }
        })
        for (const next of script) {
          if (next.kind !== 'operation' || refused) continue
          const events = (await readStream(other.store, 's'))?.document.events ?? []
          const operation = complete(briefOf(next.choice, events))
          const version = (await readStream(other.store, 's'))?.document.version
          const came = await transact(other.store, 's', operation, { ...AS, commandId: `e/${step}` })
          refused = came.kind !== 'done'
          if (came.kind === 'done' && came.result.version !== version) step += 1
          if (came.kind !== 'done') expect(outcome).toEqual({ ...came, commandId: 'e' })
        }
        if (refused) refusals += 1
        else changes += 1
        expect(await bytes(one.store)).toBe(refused ? before : await bytes(other.store))
      }),
      { numRuns: RUNS },
    )
    expect(Math.min(refusals, changes)).toBeGreaterThan(0)
  })

  it('knows the ids of its steps for later commands of this process', async () => {
    const { store } = memoryStore()
    await run(store, 's', init(['A', 'B']))
    await edit(store, 's', { ...AS, commandId: 'e' }, editing => void editing.apply(done('01.00')))
    const same = await transact(store, 's', done('01.00'), { ...AS, commandId: 'e/1' })
    expect(same).toMatchObject({ kind: 'done', result: { duplicate: true } })
    const other = await transact(store, 's', done('02.00'), { ...AS, commandId: 'e/1' })
    expect(other).toMatchObject({ kind: 'refused', refusal: { code: 'command-id-reused' } })
  })

  it('is one write of transactions with numbered command ids', async () => {
    const { store } = memoryStore()
    await run(store, 's', init(['A', 'B']), { commandId: 'i' })
    let writes = 0
    const counting = intercept(store, (_, decide, go) =>
      go((current, nowMs) => {
        const decision = decide(current, nowMs)
        if (decision.kind === 'put') writes += 1
        return decision
      }),
    )
    const outcome = await edit(counting, 's', AS, editing => {
      editing.apply({ op: 'start', event: '01.00', owner: 'w', claimMs: 1_000 })
      editing.apply({ op: 'touch', event: '01.00', owner: 'w', claimMs: 5_000 })
      editing.apply({ op: 'complete', event: '01.00', owner: 'w' })
      editing.apply(done('02.00'))
    })
    expect(writes).toBe(1)
    expect(await history(store)).toEqual(['init i', 'start c/1', 'complete c/2', 'complete c/3'])
    expect(outcome).toMatchObject({ kind: 'done', duplicate: false, commandId: 'c' })
    expect(outcome.kind === 'done' && outcome.results.map(result => [result.version, result.done])).toEqual([
      [2, false],
      [2, false],
      [3, false],
      [4, true],
    ])
  })

  it('writes nothing if a step is refused, whatever the steps before did and the script does then', async () => {
    const { store } = memoryStore()
    await run(store, 's', init(['A', 'B']))
    const before = await bytes(store)
    const outcome = await edit(store, 's', AS, editing => {
      editing.apply(done('01.00'))
      try {
        editing.apply(done('09.00'))
      } catch {}
      try {
        editing.apply(done('01.00'))
      } catch {}
    })
    expect(outcome).toMatchObject({ kind: 'refused', refusal: { code: 'event-not-found' }, commandId: 'c' })
    expect(await bytes(store)).toBe(before)
  })

  it('writes nothing if the script throws, and rethrows the error', async () => {
    const { store } = memoryStore()
    await run(store, 's', init(['A']))
    const before = await bytes(store)
    const fault = new Error('no')
    const failing = edit(store, 's', AS, editing => {
      editing.apply(done('01.00'))
      throw fault
    })
    await expect(failing).rejects.toBe(fault)
    await expect(edit(store, 's', AS, e => void e.apply({ op: 'fail', event: '00', msg: '\0' }))).rejects.toThrow(
      InvalidValue,
    )
    await expect(edit(store, 's', AS, async e => void e.apply(done('01.00')))).rejects.toThrow('asynchronous')
    // biome-ignore lint/suspicious/noThenProperty: a promise of another library.
    const other = { then: (_: unknown, reject: (error: Error) => void) => reject(new Error('nobody waits for it')) }
    await expect(edit(store, 's', AS, e => e.apply(done('01.00')) && other)).rejects.toThrow('asynchronous')
    expect(await bytes(store)).toBe(before)
  })

  it('that was made before returns its result, without running the script', async () => {
    const { store } = memoryStore()
    await run(store, 's', init(['A', 'B']))
    const script = (editing: { apply(operation: Operation): unknown }) => {
      editing.apply({ op: 'cancel', event: '01.00' })
      editing.apply({ op: 'cancel', event: '01.00' })
      editing.apply(done('02.00'))
    }
    const written: number[] = []
    const afterWrite = ({ version, duplicate }: ChangeResult) => void written.push(duplicate ? -version : version)
    const first = await edit(store, 's', { ...AS, afterWrite }, script)
    const before = await bytes(store)
    const again = await edit(store, 's', { ...AS, afterWrite }, () => {
      throw new Error('asked')
    })
    expect(first.kind === 'done' && first.results.map(({ outcome }) => outcome)).toEqual(['done', 'already', 'done'])
    // The second call may follow one that died before its callbacks.
    expect(written).toEqual([2, 3, -2, -3])
    expect(again).toMatchObject({
      kind: 'done',
      duplicate: true,
      results: [{ version: 2 }, { version: 3, done: true }],
    })
    expect(await bytes(store)).toBe(before)
  })

  it('whose answer was lost is resolved: done once, with the results of that attempt', async () => {
    const { store } = memoryStore()
    await run(store, 's', init(['A']))
    const lossy = intercept(store, async (_, decide, go) => {
      await go(decide)
      return go(decide)
    })
    let asked = 0
    const written: number[] = []
    const afterWrite = ({ version }: { readonly version: number }) => void written.push(version)
    const outcome = await edit(lossy, 's', { ...AS, afterWrite }, editing => {
      asked += 1
      editing.apply({ op: 'start', event: '01.00', owner: 'w', claimMs: 1_000 })
      editing.apply({ op: 'touch', event: '01.00', owner: 'w', claimMs: 2_000 })
      editing.apply({ op: 'complete', event: '01.00', owner: 'w' })
    })
    expect(asked).toBe(1)
    expect(outcome).toMatchObject({ kind: 'done', duplicate: false })
    expect(outcome.kind === 'done' && outcome.results.map(result => result.claim?.fence)).toEqual([2, 2, undefined])
    expect(written).toEqual([2, 2, 3])
  })

  it('is decided again on a concurrent write', async () => {
    const { store } = memoryStore()
    await run(store, 's', init(['A', 'B']))
    const late = intercept(store, async (_, decide, go) => {
      const stored = await store.read('s')
      if (stored !== undefined) decide(stored, stored.modifiedMs)
      await run(store, 's', done('02.00'))
      return go(decide)
    })
    const outcome = await edit(late, 's', AS, editing => {
      if (editing.document.events.some(({ id, status }) => id === '02.00' && status === 'init'))
        editing.apply(done('02.00'))
      editing.apply(done('01.00'))
    })
    expect(outcome).toMatchObject({ results: [{ version: 3, closed: ['00'] }] })
  })

  it('without steps writes nothing and is done', async () => {
    const { store } = memoryStore()
    await run(store, 's', init(['A']))
    const before = await bytes(store)
    expect(await edit(store, 's', AS, () => {})).toEqual({
      kind: 'done',
      results: [],
      duplicate: false,
      commandId: 'c',
    })
    expect(await edit(store, 'none', AS, () => {})).toEqual({ kind: 'missing' })
    expect(await bytes(store)).toBe(before)
  })

  it('checks its precondition in its first step only', async () => {
    const { store } = memoryStore()
    await run(store, 's', init(['A', 'B']))
    const both = (editing: { apply(operation: Operation): unknown }) => {
      editing.apply(done('01.00'))
      editing.apply(done('02.00'))
    }
    expect(await edit(store, 's', { ...AS, ifVersion: 9 }, both)).toMatchObject({ refusal: { code: 'changed' } })
    expect(await edit(store, 's', { ...AS, ifVersion: 1 }, both)).toMatchObject({ kind: 'done' })
  })

  it('records a foreign write once, before its first step', async () => {
    const { store } = memoryStore()
    await run(store, 's', init(['A', 'B', 'C']), { commandId: 'i' })
    await writeForeign(store, 's', 'status="init"', 'status="completed"')
    await edit(store, 's', AS, editing => {
      editing.apply(done('02.00'))
      editing.apply(done('03.00'))
    })
    expect(await history(store)).toEqual(['init i', 'foreign ', 'complete c/1', 'complete c/2'])
  })

  it('has a limited number of steps, and accepts none after it has ended', async () => {
    const { store } = memoryStore()
    await run(store, 's', init(['A']))
    const before = await bytes(store)
    const set = (tag: string): Operation => ({ op: 'set', event: '01.00', attributes: { tag } })
    const endless = edit(store, 's', AS, editing => {
      for (let at = 0; ; at++) editing.apply(set(String(at)))
    })
    await expect(endless).rejects.toThrow('at most 100 steps')
    let kept: { apply(operation: Operation): unknown } | undefined
    await edit(store, 's', AS, editing => {
      kept = editing
    })
    expect(() => kept?.apply(set('late'))).toThrow('has ended')
    await expect(edit(store, 's', { ...AS, commandId: 'x'.repeat(198) }, () => {})).rejects.toThrow(InvalidValue)
    expect(await bytes(store)).toBe(before)
  })
})
