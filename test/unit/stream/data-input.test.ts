import { describe, expect, it } from 'vitest'
import { dataOf } from '../../../src/stream/data.ts'
import { readDataInput } from '../../../src/stream/data-input.ts'
import { InvalidValue } from '../../../src/stream/errors.ts'

const read = (given: unknown) => readDataInput(given, 'input')

function refused(given: unknown): InvalidValue {
  try {
    read(given)
  } catch (error) {
    if (error instanceof InvalidValue) return error
  }
  throw new Error('it was taken')
}

describe('data that a program gives', () => {
  it('is a text or bytes, whose media type is guessed', () => {
    expect(read('{"a":1}')).toEqual(dataOf(Buffer.from('{"a":1}')))
    expect(read('{"a":1}')).toMatchObject({ type: 'application/json', text: '{"a":1}' })
    expect(read(new Uint8Array([0xff, 1]))).toMatchObject({ type: 'application/octet-stream', base64: '/wE=' })
  })

  it('or data as it was made, of which nothing else is taken', () => {
    const made = { type: 'text/plain', size: 1, sha256: 'x'.repeat(64) }
    expect(read({ ...made, text: 'a', note: 1 })).toEqual({ ...made, text: 'a' })
    expect(read({ ...made, base64: 'YQ==' })).toEqual({ ...made, base64: 'YQ==' })
    const bytes = new Uint8Array([97])
    expect(read({ ...made, bytes })).toEqual({ ...made, bytes })
    expect(read({ ...made, text: 1, base64: 2, bytes: 'a' })).toEqual(made)
  })

  it.each([[7], [null], [undefined], [['a']]])('is never %j', given => {
    expect(refused(given).message).toMatch(/^input .*a text, a Uint8Array or newData\(…\)/)
  })

  it.each([
    [{ size: 1, sha256: 'x' }],
    [{ type: 'text/plain', sha256: 'x' }],
    [{ type: 'text/plain', size: 1 }],
    [{ type: 1, size: '1', sha256: 2 }],
  ])('an object %j needs newData', given => {
    expect(refused(given)).toMatchObject({
      message: expect.stringMatching(/^input .*a text, a Uint8Array or newData\(…\)/),
      hint: 'newData(JSON.stringify(value)) makes data of any value.',
    })
  })
})
