import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** A network between a process and a service that can be cut: connections break, and new ones are refused at once. */
export class Gate {
  readonly #server = createServer(socket => this.#forward(socket))
  readonly #sockets = new Set<Socket>()
  /** The port of the service. */
  target: number
  #isCut = false
  /** Connections that were broken or refused. */
  cuts = 0

  constructor(target: number) {
    this.target = target
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  async listen(): Promise<this> {
    await new Promise<void>(resolve => this.#server.listen(0, '127.0.0.1', resolve))
    return this
  }

  cut(): void {
    this.#isCut = true
    this.cuts += this.#sockets.size
    for (const socket of this.#sockets) socket.destroy()
  }

  mend(): void {
    this.#isCut = false
  }

  close(): void {
    this.cut()
    this.#server.close()
  }

  #forward(socket: Socket): void {
    if (this.#isCut) {
      this.cuts += 1
      socket.destroy()
      return
    }
    const service = connect(this.target, '127.0.0.1')
    for (const [one, other] of [
      [socket, service],
      [service, socket],
    ] as const) {
      this.#sockets.add(one)
      one.pipe(other)
      one.on('error', () => other.destroy())
      one.on('close', () => {
        this.#sockets.delete(one)
        other.destroy()
      })
    }
  }
}
