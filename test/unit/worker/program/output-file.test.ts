import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, rmSync, statSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { afterEach, describe, expect, test } from 'vitest'
import { OutputFile, readOutput } from '../../../../src/worker/program/output-file.ts'

let file: OutputFile | undefined
afterEach(() => file?.remove())

function made(change: (path: string) => void = () => {}): OutputFile {
  file = new OutputFile()
  change(file.path)
  return file
}

describe('the output file', () => {
  test('is private, empty at first, and removed with its folder', async () => {
    const output = made()
    await output.errorPipe
    expect(statSync(output.path).mode & 0o777).toBe(0o600)
    expect(statSync(output.folder).mode & 0o777).toBe(0o700)
    expect(output.read()).toBe('')
    output.remove()
    expect(existsSync(output.folder)).toBe(false)
  })

  test('is removed with its folder also while the pipe of its program is being created', async () => {
    const output = made()
    output.remove()
    await output.errorPipe
    expect(existsSync(output.folder)).toBe(false)
  })

  test('may be replaced by another file', () => {
    const replace = (path: string) => {
      rmSync(path)
      writeFileSync(path, 'msg=ü\n')
    }
    expect(made(replace).read()).toBe('msg=ü\n')
  })

  const replaced = (by: (path: string) => void) => (path: string) => {
    rmSync(path)
    by(path)
  }
  test.each([
    ['removed', /removed/, replaced(() => {})],
    ['a folder', /not a file/, replaced(path => void mkdirSync(path))],
    ['a link', /a link/, replaced(path => symlinkSync('/etc/passwd', path))],
    ['a pipe, which is not waited for', /not a file/, replaced(path => void execFileSync('mkfifo', [path]))],
    ['a device', /a link|not a file/, replaced(path => symlinkSync('/dev/zero', path))],
    ['too large', /more than 64 KiB/, (path: string) => truncateSync(path, 64 * 1_024 + 1)],
    ['very much too large', /more than 64 KiB/, (path: string) => truncateSync(path, 2 ** 40)],
    ['not UTF-8', /not UTF-8/, (path: string) => writeFileSync(path, Buffer.from([0x6d, 0xff]))],
  ])('%s as a replacement is refused', (_, why, change) => {
    expect(() => made(change).read()).toThrow(why)
  })
})

describe('the content', () => {
  test('may be all statements in any order, with values of several lines', () => {
    const text = [
      'topic=a=b',
      'fork=X, Y',
      '',
      'fork=Z',
      'join=J\r',
      'msg<<END',
      'one',
      '',
      'next=not this',
      'END',
      'tracking-id=t',
      'onDue=notify',
      'timeout=90s\r',
      'next=N',
    ].join('\n')
    expect(readOutput(text)).toEqual({
      forks: ['X', 'Y', 'Z'],
      join: 'J',
      next: 'N',
      msg: 'one\n\nnext=not this',
      attributes: { topic: 'a=b', trackingId: 't', onDue: 'notify', timeout: '00:01:30' },
    })
  })

  test('may be a message, which is cleaned for the document', () => {
    expect(readOutput('msg=\u001b[31mred\u0001').msg).toBe('red\ufffd')
    expect(readOutput(`msg=${'é'.repeat(30_000)}`).msg).toHaveLength(2_048)
  })

  test.each([
    ['a word', 'line 1: expected KEY=VALUE or KEY<<END'],
    ['\n\nnexd=N', 'line 3: unknown key nexd; known are next, fork'],
    ['toString=x', 'unknown key toString'],
    ['next=', 'line 1: next: a name is empty'],
    ['fork=A,,B', 'fork: a name is empty'],
    ['fork=A:colour=red', 'line 1: unknown attribute colour of fork; known are topic, key'],
    ['fork=A:key=a:key=b', 'line 1: key occurs twice'],
    ['fork=:key=a', 'fork: a name is empty'],
    ['fork=A:timeout=soon', 'line 1'],
    ['next=A\nnext=B', 'line 2: next occurs twice'],
    ['tracking-id=a\ntrackingId=b', 'line 2: trackingId occurs twice'],
    ['join=J', 'join needs fork'],
    ['msg<<END\ntext', 'line 1: the line that ends msg<< is missing'],
    ['msg<<\ntext\n', 'the line that ends'],
    ['timeout=90', 'line 1: '],
    ['on-due=explode', 'on-due is one of abort-event'],
    ['key=a\u0001b', 'which XML cannot hold'],
    [`tag=${'x'.repeat(2_000)}`, 'longer than 1024 bytes'],
    [`${'x'.repeat(60_000)}=1`, 'unknown key xxxx'],
  ])('%j is refused', (text, why) => {
    expect(() => readOutput(text)).toThrow(why)
  })
})

test('a fork has attributes of its own, as --fork of the command line', () => {
  const { forks, attributes } = readOutput(
    'fork=Ask:key=north,Ask:key=south:timeout=30s\nfork=ns:Plain\nfork=Late:at=2026-11-20T14:00Z\ntag=x',
  )
  expect(forks).toEqual([
    { name: 'Ask', key: 'north' },
    { name: 'Ask', key: 'south', timeout: '00:00:30' },
    'ns:Plain',
    { name: 'Late', wake: '2026-11-20T14:00:00.000Z' },
  ])
  expect(attributes).toEqual({ tag: 'x' })
})
