import { describe, expect, it } from 'vitest'
import { BadDocument, InvalidValue } from '../../../src/stream/errors.ts'

describe('BadDocument', () => {
  it('names line and column, and the stream once its name is known', () => {
    const error = new BadDocument('a tag is not closed', { line: 3, column: 7 }, 'look at the blob')
    expect(error).toMatchObject({ code: 'bad-document', line: 3, column: 7, hint: 'look at the blob' })
    expect(error.message).toBe('line 3, column 7: a tag is not closed')
    expect(error.in('orders/4711')).toMatchObject({ stream: 'orders/4711', line: 3, column: 7 })
  })

  it('omits the place if the fault has no place', () => {
    expect(new BadDocument('more than 32 MiB').message).toBe('more than 32 MiB')
  })
})

describe('errors of the domain', () => {
  it('keep their cause and carry the name of their class', () => {
    const cause = new Error('because')
    const error = new InvalidValue('no', { cause })
    expect([error.name, error.code, error.cause, error.hint]).toEqual([
      'InvalidValue',
      'invalid-value',
      cause,
      undefined,
    ])
  })
})
