import { expect, test } from 'vitest'
import { listenAddress } from '../../../src/cli/listen-address.ts'
import { UsageError } from '../../../src/cli/problem.ts'

const parse = listenAddress('--listen')

test.each([
  ['127.0.0.1:9464', '127.0.0.1', 9464],
  ['localhost:1', 'localhost', 1],
  ['0.0.0.0:65535', '0.0.0.0', 65535],
  [':9464', '127.0.0.1', 9464],
  ['[::1]:0', '::1', 0],
  ['[::ffff:127.0.0.1]:80', '::ffff:127.0.0.1', 80],
])('%s is %s and %d', (text, host, port) => {
  expect(parse(text)).toEqual({ host, port })
})

test.each([
  ['9464', 'Write --listen :9464 for 127.0.0.1:9464.'],
  ['::1:9464', 'Write an IPv6 address in brackets: --listen [::1]:9464.'],
  ['127.0.0.1', 'HOST:PORT'],
  ['127.0.0.1:', 'HOST:PORT'],
  ['127.0.0.1:65536', 'ports go up to 65535'],
  ['127.0.0.1:+1', 'HOST:PORT'],
  ['[1.2.3.4]:1', 'HOST:PORT'],
  ['http://127.0.0.1:1', 'HOST:PORT'],
  ['a b:1', 'HOST:PORT'],
  ['-x:1', 'HOST:PORT'],
  ['', 'HOST:PORT'],
])('%j is refused with the right form', (text, hint) => {
  const refused = catchError(() => parse(text))
  expect(refused).toBeInstanceOf(UsageError)
  expect(refused).toMatchObject({ code: 'usage', hint: expect.stringContaining(hint) })
})

function catchError(act: () => unknown): unknown {
  try {
    return act()
  } catch (error) {
    return error
  }
}
