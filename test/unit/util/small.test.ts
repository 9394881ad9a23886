import { describe, expect, test } from 'vitest'
import { errorCode } from '../../../src/util/errors.ts'
import { firstBytes } from '../../../src/util/first-bytes.ts'
import { isLoopback } from '../../../src/util/loopback.ts'

describe('isLoopback', () => {
  test.each(['localhost', '127.0.0.1', '127.9.9.9', '127.1', '::1', '[::1]', '::ffff:127.0.0.1'])('%s is', host => {
    expect(isLoopback(host)).toBe(true)
  })

  test.each(['127.evil.example', '127.0.0.1.example', 'localhost.example', '10.0.0.1', '::', '::12', '0.0.0.0', '127'])(
    '%s is not',
    host => {
      expect(isLoopback(host)).toBe(false)
    },
  )
})

describe('firstBytes', () => {
  async function* endless() {
    for (;;) yield 'ab'
  }

  test('reads everything below the limit', async () => {
    const source = (async function* () {
      yield 'é'
      yield new Uint8Array([1, 2, 3]).subarray(1)
    })()
    expect(await firstBytes(source, 9)).toEqual(Buffer.from([0xc3, 0xa9, 2, 3]))
  })

  test('reads slightly more than the limit from an endless source', async () => {
    expect((await firstBytes(endless(), 4)).toString()).toBe('ababab')
  })
})

describe('errorCode', () => {
  test('is a text or undefined', () => {
    expect(errorCode(Object.assign(new Error('no'), { code: 'ENOENT' }))).toBe('ENOENT')
    for (const other of [Object.assign(new Error('no'), { code: 7 }), new Error('no'), 'ENOENT', undefined]) {
      expect(errorCode(other)).toBeUndefined()
    }
  })
})
