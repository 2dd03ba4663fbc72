// A terminal of ttyward's as a terminal of VS Code: the screen is painted as the daemon has it, keys go there. Closing it detaches.
import * as vscode from "vscode";
import type { Attachment, Client } from "@ttyward/client";
import { Painter } from "../../../panel/src/painter";

export class AttachedTerminal implements vscode.Pseudoterminal {
  private readonly written = new vscode.EventEmitter<string>();
  private readonly closed = new vscode.EventEmitter<number | void>();
  private readonly sized = new vscode.EventEmitter<vscode.TerminalDimensions | undefined>();
  readonly onDidWrite = this.written.event;
  readonly onDidClose = this.closed.event;
  readonly onDidOverrideDimensions = this.sized.event;
  private readonly painter = new Painter();
  private attachment: Attachment | undefined;
  private room: vscode.TerminalDimensions | undefined;
  private writable = false;
  private told = false;
  private ended = false;

  constructor(private readonly client: Client, private readonly terminal: string, private readonly readOnly: boolean) {}

  open(dimensions: vscode.TerminalDimensions | undefined): void {
    this.room = dimensions;
    void this.follow();
  }

  close(): void {
    this.ended = true;
    void this.attachment?.close();
  }

  handleInput(text: string): void {
    if (this.writable) {
      this.attachment?.input(text).catch((error: Error) => void vscode.window.showErrorMessage(`ttyward: ${error.message}`));
    } else if (!this.told) {
      this.told = true;
      void vscode.window.showInformationMessage("ttyward: somebody else has the keyboard of this terminal, or you only watch it. Attach to it to type.");
    }
  }

  setDimensions(dimensions: vscode.TerminalDimensions): void {
    this.room = dimensions;
    this.fit();
  }

  // Whoever has the keyboard decides the size; who watches gets the terminal's own.
  private fit(): void {
    if (this.writable && this.room) {
      this.sized.fire(undefined);
      this.attachment?.resize(this.room.columns, this.room.rows).catch(() => {});
    } else if (this.painter.cols > 0) {
      this.sized.fire({ columns: this.painter.cols, rows: this.painter.rows });
    }
  }

  private async follow(): Promise<void> {
    try {
      const size = this.room && !this.readOnly ? { cols: this.room.columns, rows: this.room.rows } : undefined;
      this.attachment = await this.client.watch({ terminal: this.terminal, read_only: this.readOnly, size });
      if (this.ended) return await this.attachment.close();
      for await (const event of this.attachment) {
        if (event.event === "attach_keyboard") {
          this.writable = event.writable;
          this.told = false;
          this.fit();
        } else if (event.event === "attach_screen") {
          const { cols, rows } = this.painter;
          this.painter.apply(event.screen);
          if (!this.writable && (cols !== this.painter.cols || rows !== this.painter.rows)) this.fit();
          this.written.fire(this.painter.paint(this.writable));
        } else {
          this.written.fire(`\r\n\x1b[0m[${event.reason}]\r\n`);
          break;
        }
      }
      if (!this.ended) this.closed.fire();
    } catch (error) {
      this.written.fire(`\r\n\x1b[0m[ttyward: ${(error as Error).message}]\r\n`);
      if (!this.ended) this.closed.fire(1);
    }
  }
}
