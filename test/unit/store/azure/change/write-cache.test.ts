import { describe, expect, it } from 'vitest'
import { WriteCache, writtenState } from '../../../../../src/store/azure/change/write-cache.ts'
import { summary } from '../../../../contract/harness.ts'

function state(name: string, size = 10) {
  const write = { body: new Uint8Array(size), summary: summary({ version: 7 }) }
  return writtenState(
    name,
    write,
    { etag: `etag of ${name}`, modifiedMs: 4711 },
    { md5: '', metadata: {}, headers: {} },
  )
}

describe('the write cache', () => {
  it('finds the last state of each stream until it is forgotten', () => {
    const cache = new WriteCache()
    cache.remember('a', state('a', 1))
    cache.remember('a', state('a', 2))
    expect(cache.find('a')?.stored).toMatchObject({ size: 2, etag: 'etag of a', versionFloor: 7, modifiedMs: 4711 })
    cache.forget('a')
    cache.forget('a')
    expect(cache.find('a')).toBeUndefined()
  })

  it('holds 64 states and forgets those written longest ago', () => {
    const cache = new WriteCache()
    for (let at = 0; at < 64; at += 1) cache.remember(`s${at}`, state(`s${at}`))
    cache.remember('s0', state('s0'))
    cache.remember('s64', state('s64'))
    expect(cache.find('s0')).toBeDefined()
    expect(cache.find('s1')).toBeUndefined()
    expect(cache.find('s2')).toBeDefined()
  })

  it('holds at most 8 MiB, and no state above 1 MiB', () => {
    const cache = new WriteCache()
    const mebibyte = 1024 * 1024
    for (let at = 0; at < 9; at += 1) cache.remember(`s${at}`, state(`s${at}`, mebibyte))
    expect(cache.find('s0')).toBeUndefined()
    expect(cache.find('s1')).toBeDefined()
    cache.remember('s1', state('s1', mebibyte + 1))
    expect(cache.find('s1')).toBeUndefined()
  })
})
