import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { probeStore } from '../../src/ops/doctor/probe.ts'
import { given, listed, type StoreHarness, withStore } from './harness.ts'

export function describeInspection(harness: StoreHarness): void {
  describe('inspection', () => {
    it('returns kind and address, and the reason for each unknown fact; none is secret', () =>
      withStore(harness, async store => {
        const facts = await store.inspect()
        expect(facts.address).toBe(store.address)
        expect(['memory', 'sqlite', 'azure']).toContain(facts.kind)
        for (const why of Object.values(facts.unknown)) expect(why).toEqual(expect.any(String))
        expect(JSON.stringify(facts)).not.toMatch(/sig=|AccountKey|Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1/)
      }))

    it('changes nothing', () =>
      withStore(harness, async store => {
        await given(store, 'a')
        const before = await listed(store)
        await store.inspect({ deep: true })
        expect(await listed(store)).toEqual(before)
      }))

    it('rejects with the reason of an aborted signal', () =>
      withStore(harness, async store => {
        const reason = new Error('stop')
        await expect(store.inspect({ signal: AbortSignal.abort(reason) })).rejects.toBe(reason)
      }))

    it('passes the probe of its permissions, and leaves nothing of it', () =>
      withStore(harness, async store => {
        const ids: string[] = []
        const newId = () => {
          const id = randomUUID()
          ids.push(id)
          return id
        }
        await given(store, 'a')
        const steps = await probeStore(store, { write: true, newId, actor: 'ada@here' })
        expect(steps.map(({ outcome }) => outcome)).toEqual(Array.from({ length: 7 }, () => 'ok'))
        for (const id of ids) expect(await store.read(`.leasectl/probe/${id}`)).toBeUndefined()
      }))

    it('removes the probe under its lease if that could not be released', () =>
      withStore(harness, async store => {
        const silent = new Proxy(store, {
          get(target, key) {
            if (key === 'releaseLease') return async () => ({ kind: 'unknown', cause: 'silence' })
            const value: unknown = Reflect.get(target, key)
            return typeof value === 'function' ? value.bind(target) : value
          },
        })
        const newId = () => '0190b0a0-0000-7000-8000-000000000001'
        const steps = await probeStore(silent, { write: true, newId, actor: 'ada@here' })
        expect(steps.slice(-2).map(({ outcome }) => outcome)).toEqual(['failed', 'ok'])
        expect(await store.read(`.leasectl/probe/${newId()}`)).toBeUndefined()
      }))
  })
}
