import { execFile } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { newUser, type User } from '../e2e/program.ts'
import { trustRow } from '../guarantees/record.ts'
import { connectionStrings, hitsIn, KEY, SAS, secretEnvironment } from './canaries.ts'

const row = trustRow('secrets')

let user: User
let service: Server
let endpoint = ''
let signed = 0

beforeAll(async () => {
  user = await newUser()
  service = createServer((request, response) => {
    if (hitsIn(request.url ?? '').length > 0) signed += 1
    request.resume()
    response.writeHead(403, { 'x-ms-request-id': 'r', 'x-ms-error-code': 'AuthenticationFailed' }).end(request.url)
  })
  await new Promise<void>(resolve => service.listen(0, '127.0.0.1', resolve))
  endpoint = `http://127.0.0.1:${(service.address() as AddressInfo).port}/acct`
})
afterAll(() => {
  user.leave()
  service.close()
  service.closeAllConnections()
})

const secrets = () => secretEnvironment(connectionStrings(endpoint).SAS)

/** Writes the command lines of all processes of this user to the file in its argument. */
const LOOK = `for file in $(grep -lzs "^HOME=$HOME$" /proc/[0-9]*/environ); do
  tr '\\0' ' ' 2> /dev/null < "\${file%environ}cmdline"
  echo
done 2> /dev/null > "$HOME/$1"
`

/** A module that makes the program that loads it fail with an uncaught error. */
function crashing(name: string, how: string): string {
  const path = join(user.home, `${name}.mjs`)
  const error = `Object.assign(new Error('GET /c?${SAS}'), { request: { url: '/c?${SAS}', headers: { authorization: '${SAS}' } } })`
  writeFileSync(path, `const error = ${error}\nsetImmediate(() => { ${how} })\n`)
  return path
}

const CRASHES = [
  ['a fault that nobody catches', 'throw error'],
  ['a promise that nobody waits for', 'void Promise.reject(error)'],
] as const

describe.concurrent('a secret is not printed', () => {
  test.each([
    ['AZURE_LOG_LEVEL', 'verbose'],
    ['DEBUG', '*'],
    ['NODE_DEBUG', 'http,https,net,tls,undici,fetch'],
  ])('with %s=%s', async (name, value) => {
    const { code, stdout, stderr } = await user.run(['ls', '--debug', '-v'], { ...secrets(), [name]: value })
    expect([code, hitsIn(stdout + stderr)]).toEqual([4, []])
    expect(signed).toBeGreaterThan(0)
    row.injected(`runs with ${name}=${value}`, 1)
  })

  test.each(CRASHES)('by %s: it is reported as a bug', async (name, how) => {
    const path = crashing(name.replaceAll(' ', '-'), how)
    const env = { ...secrets(), NODE_OPTIONS: `--import=file://${path}` }
    const { code, stdout, stderr } = await user.run(['ls', '--debug'], env)
    expect([code, hitsIn(stdout + stderr)]).toEqual([1, []])
    expect(stderr).toMatch(/^error: Error: GET .* \[unexpected\]$/m)

    const bare = await promisify(execFile)(process.execPath, [path]).catch((error: { stderr: string }) => error)
    const failed = hitsIn(bare.stderr).length > 0
    expect(failed).toBe(true)
    row.control(`Node tells of ${name} itself`, failed)
  })

  test('on the command line of any process, although the program of exec has the environment of exec', async () => {
    const store = ['--store', `sqlite:${join(user.home, 'x.db')}`]
    await user.run(['init', 's', '--fork', 'A,B', ...store])
    const look = join(user.home, 'look')
    writeFileSync(look, LOOK)
    const run = (...words: readonly string[]) => user.run(words, secrets())
    const shell = (script: string) => ['--', 'sh', '-c', `sh ${look} ${script}`]
    const executed = await run('exec', 's', '02.00', ...store, ...shell('exec; echo "$AZURE_STORAGE_KEY"'))
    const worked = await run('work', '--name', 'A', '--once', ...store, ...shell('work; exit 3'))
    // the failure is reported
    const hook = JSON.stringify(['/bin/sh', look, 'hook'])
    const watched = await run('watchdog', '--once', '--on-failed', hook, ...store)
    expect([executed, worked, watched].map(({ code }) => code)).toEqual([0, 3, 0])
    expect(hitsIn(executed.stdout)).toContain(KEY)
    expect(hitsIn([executed, worked, watched].map(({ stderr }) => stderr).join(''))).toEqual([])
    for (const [by, command] of Object.entries({ exec: 'exec', work: 'work', hook: 'watchdog' })) {
      const lines = readFileSync(join(user.home, by), 'utf8')
      expect(lines).toContain(`leasectl.js ${command} `)
      expect(lines).toContain(`${look} ${by} \n`)
      expect(hitsIn(lines)).toEqual([])
      row.injected(`command lines seen by what ${by} runs`, lines.split('\n').length - 1)
    }
  }, 60_000)
})

test('the test detects a secret among the arguments of a process', async () => {
  const look = join(user.home, 'look')
  writeFileSync(look, LOOK)
  await promisify(execFile)('sh', [look, 'given', KEY], { env: { ...user.env } })
  const seen = hitsIn(readFileSync(join(user.home, 'given'), 'utf8')).length > 0
  expect(seen).toBe(true)
  row.control('a secret among the arguments of a process', seen)
})
