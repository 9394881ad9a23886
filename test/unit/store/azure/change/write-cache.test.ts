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

describe('the states this process wrote', () => {
  it('are found by name until they are forgotten, the last one of each', () => {
    const states = new WriteCache()
    states.remember('a', state('a', 1))
    states.remember('a', state('a', 2))
    expect(states.find('a')?.stored).toMatchObject({ size: 2, etag: 'etag of a', versionFloor: 7, modifiedMs: 4711 })
    states.forget('a')
    states.forget('a')
    expect(states.find('a')).toBeUndefined()
  })

  it('are few: those written longest ago go', () => {
    const states = new WriteCache()
    for (let at = 0; at < 64; at += 1) states.remember(`s${at}`, state(`s${at}`))
    states.remember('s0', state('s0'))
    states.remember('s64', state('s64'))
    expect(states.find('s0')).toBeDefined()
    expect(states.find('s1')).toBeUndefined()
    expect(states.find('s2')).toBeDefined()
  })

  it('are small: at most 8 MiB together, none above 1 MiB', () => {
    const states = new WriteCache()
    const mebibyte = 1024 * 1024
    for (let at = 0; at < 9; at += 1) states.remember(`s${at}`, state(`s${at}`, mebibyte))
    expect(states.find('s0')).toBeUndefined()
    expect(states.find('s1')).toBeDefined()
    states.remember('s1', state('s1', mebibyte + 1))
    expect(states.find('s1')).toBeUndefined()
  })
})
