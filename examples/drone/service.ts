// One of the five services: does and undoes its step, and remembers both in a file of its own, which survives a kill.
//
//   node service.ts FOLDER NAME FAULTS SEED
//
// A share of the requests goes wrong, in one of six ways that the seed decides. Three rules make it safe to ask again:
//   - what was done or undone is not done or undone again: the answer is repeated
//   - undoing what was never done is accepted
//   - what was undone is never done afterwards: a request may arrive when its sender has long been given up
import { createHash } from 'node:crypto'
import { rmSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { ServiceLog } from './service-log.ts'
import { STEPS } from './steps.cjs'

const [, , folder = '', name = '', faults = '0', seed = '0'] = process.argv
const refusal = STEPS.find(({ service }) => service === name)?.refusal ?? 'refused'

/** Longer than the attempt timeout of the steps: when the service goes on, the worker has given up. */
const HANG_MS = 2_500

const FAULTS = ['refused', 'busy before', 'busy after', 'hang before', 'hang after', 'crash after'] as const

const log = new ServiceLog(join(folder, `${name}.db`))
const socket = join(folder, `${name}.sock`)
// A service that was killed leaves its socket.
rmSync(socket, { force: true })
createServer((request, response) => void serve(request, response)).listen(socket)

async function serve({ url, headers }: IncomingMessage, response: ServerResponse): Promise<void> {
  const request = { key: String(headers['idempotency-key']), delivery: String(headers.delivery) }
  const fault = faultOf(`${url} ${request.delivery}`)
  const answer = (status: number, text: string) => void response.writeHead(status).end(text)

  if (fault === 'busy before') return answer(503, `${name} is busy`)
  if (fault === 'hang before') await sleep(HANG_MS)
  if (url === '/undo') log.undo(request)
  else if (fault === 'refused' && !log.isDone(request)) return answer(409, refusal)
  else if (!log.do(request)) return answer(410, `${name}: undone before`)
  if (fault === 'crash after') process.kill(process.pid, 'SIGKILL')
  if (fault === 'hang after') await sleep(HANG_MS)
  if (fault === 'busy after') return answer(500, `${name} has failed`)
  answer(200, 'done')
}

/** The fault of a request: the same for the same seed, and another each time the service is asked. */
function faultOf(asked: string): (typeof FAULTS)[number] | undefined {
  const digest = createHash('sha256')
    .update(`${seed} ${name} ${asked} ${log.count(asked)}`)
    .digest()
  const isFaulty = digest.readUInt32BE(0) / 2 ** 32 < Number(faults)
  return isFaulty ? FAULTS[digest.readUInt32BE(4) % FAULTS.length] : undefined
}
