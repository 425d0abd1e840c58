<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="de_DE" sourcelanguage="en">
<context>
    <name>Format</name>
    <message>
        <source>%1 B</source>
        <translation>%1 B</translation>
    </message>
    <message>
        <source>%1 KiB</source>
        <translation>%1 KiB</translation>
    </message>
    <message>
        <source>%1 MiB</source>
        <translation>%1 MiB</translation>
    </message>
    <message>
        <source>%1 GiB</source>
        <translation>%1 GiB</translation>
    </message>
    <message>
        <source>%1 TiB</source>
        <translation>%1 TiB</translation>
    </message>
    <message>
        <source>%1 ms</source>
        <translation>%1 ms</translation>
    </message>
    <message>
        <source>%1 s</source>
        <translation>%1 s</translation>
    </message>
    <message>
        <source>%1 min %2 s</source>
        <translation>%1 min %2 s</translation>
    </message>
    <message>
        <source>%1 B</source>
        <comment>billion parameters, beside the model&apos;s name</comment>
        <translation>%1 Mrd.</translation>
    </message>
    <message>
        <source>%1 M</source>
        <comment>million parameters, beside the model&apos;s name</comment>
        <translation>%1 Mio.</translation>
    </message>
    <message>
        <source>%1 K</source>
        <comment>thousand parameters, beside the model&apos;s name</comment>
        <translation>%1 Tsd.</translation>
    </message>
    <message>
        <source>CPU</source>
        <translation>CPU</translation>
    </message>
    <message>
        <source>Disk</source>
        <translation>Datenträger</translation>
    </message>
    <message>
        <source>GPU %1</source>
        <translation>GPU %1</translation>
    </message>
    <message>
        <source>Simulated GPU %1</source>
        <translation>Simulierte GPU %1</translation>
    </message>
    <message>
        <source>Everything on the GPU</source>
        <translation>Alles auf der GPU</translation>
    </message>
    <message>
        <source>Towers on the CPU</source>
        <translation>Türme auf der CPU</translation>
    </message>
    <message>
        <source>Per-layer embeddings on the CPU</source>
        <translation>Einbettungen je Schicht auf der CPU</translation>
    </message>
    <message>
        <source>Towers and per-layer embeddings on the CPU</source>
        <translation>Türme und Einbettungen je Schicht auf der CPU</translation>
    </message>
    <message>
        <source>Everything on the CPU</source>
        <translation>Alles auf der CPU</translation>
    </message>
    <message>
        <source>Best fit</source>
        <translation>Beste Passung</translation>
    </message>
    <message>
        <source>Own layout</source>
        <translation>Eigene Platzierung</translation>
    </message>
    <message>
        <source>As stored</source>
        <translation>Wie gespeichert</translation>
    </message>
    <message>
        <source>%1 bits (%2)</source>
        <translation>%1 Bit (%2)</translation>
    </message>
    <message>
        <source>%1 bits (%2, double quantization)</source>
        <translation>%1 Bit (%2, doppelt quantisiert)</translation>
    </message>
    <message>
        <source>Experts on the CPU</source>
        <translation>Experten auf der CPU</translation>
    </message>
    <message>
        <source>%1, experts too</source>
        <translation>%1, auch die Experten</translation>
    </message>
</context>
<context>
    <name>QAbstractSpinBox</name>
    <message>
        <source>&amp;Select All</source>
        <translation>Alles &amp;auswählen</translation>
    </message>
    <message>
        <source>&amp;Step up</source>
        <translation>&amp;Erhöhen</translation>
    </message>
    <message>
        <source>Step &amp;down</source>
        <translation>&amp;Verringern</translation>
    </message>
</context>
<context>
    <name>QFileDialog</name>
    <message>
        <source>Look in:</source>
        <translation>Suchen in:</translation>
    </message>
    <message>
        <source>Back</source>
        <translation>Zurück</translation>
    </message>
    <message>
        <source>Go back</source>
        <translation>Zurückgehen</translation>
    </message>
    <message>
        <source>Forward</source>
        <translation>Vor</translation>
    </message>
    <message>
        <source>Go forward</source>
        <translation>Vorwärtsgehen</translation>
    </message>
    <message>
        <source>Parent Directory</source>
        <translation>Übergeordneter Ordner</translation>
    </message>
    <message>
        <source>Go to the parent directory</source>
        <translation>Zum übergeordneten Ordner</translation>
    </message>
    <message>
        <source>Create New Folder</source>
        <translation>Neuer Ordner</translation>
    </message>
    <message>
        <source>Create a New Folder</source>
        <translation>Einen neuen Ordner anlegen</translation>
    </message>
    <message>
        <source>List View</source>
        <translation>Liste</translation>
    </message>
    <message>
        <source>Change to list view mode</source>
        <translation>Als Liste zeigen</translation>
    </message>
    <message>
        <source>Detail View</source>
        <translation>Einzelheiten</translation>
    </message>
    <message>
        <source>Change to detail view mode</source>
        <translation>Mit Einzelheiten zeigen</translation>
    </message>
    <message>
        <source>Sidebar</source>
        <translation>Orte</translation>
    </message>
    <message>
        <source>List of places and bookmarks</source>
        <translation>Orte und Lesezeichen</translation>
    </message>
    <message>
        <source>Files</source>
        <translation>Dateien</translation>
    </message>
    <message>
        <source>Files of type:</source>
        <translation>Dateien vom Typ:</translation>
    </message>
    <message>
        <source>File &amp;name:</source>
        <translation>Datei&amp;name:</translation>
    </message>
    <message>
        <source>Directory:</source>
        <translation>Ordner:</translation>
    </message>
    <message>
        <source>Directories</source>
        <translation>Ordner</translation>
    </message>
    <message>
        <source>Find Directory</source>
        <translation>Ordner suchen</translation>
    </message>
    <message>
        <source>Open</source>
        <translation>Öffnen</translation>
    </message>
    <message>
        <source>Save As</source>
        <translation>Speichern unter</translation>
    </message>
    <message>
        <source>&amp;Open</source>
        <translation>Ö&amp;ffnen</translation>
    </message>
    <message>
        <source>&amp;Choose</source>
        <translation>&amp;Wählen</translation>
    </message>
    <message>
        <source>&amp;Save</source>
        <translation>&amp;Speichern</translation>
    </message>
    <message>
        <source>&amp;Rename</source>
        <translation>&amp;Umbenennen</translation>
    </message>
    <message>
        <source>&amp;Delete</source>
        <translation>&amp;Löschen</translation>
    </message>
    <message>
        <source>Show &amp;hidden files</source>
        <translation>&amp;Versteckte Dateien zeigen</translation>
    </message>
    <message>
        <source>&amp;New Folder</source>
        <translation>&amp;Neuer Ordner</translation>
    </message>
    <message>
        <source>New Folder</source>
        <translation>Neuer Ordner</translation>
    </message>
    <message>
        <source>All Files (*)</source>
        <translation>Alle Dateien (*)</translation>
    </message>
    <message>
        <source>Recent Places</source>
        <translation>Zuletzt benutzte Orte</translation>
    </message>
    <message>
        <source>My Computer</source>
        <translation>Mein Rechner</translation>
    </message>
    <message>
        <source>Remove</source>
        <translation>Entfernen</translation>
    </message>
    <message>
        <source>Delete</source>
        <translation>Löschen</translation>
    </message>
    <message>
        <source>Are you sure you want to delete &apos;%1&apos;?</source>
        <translation>Soll „%1“ wirklich gelöscht werden?</translation>
    </message>
    <message>
        <source>Could not delete directory.</source>
        <translation>Der Ordner ließ sich nicht löschen.</translation>
    </message>
    <message>
        <source>%1
Directory not found.
Please verify the correct directory name was given.</source>
        <translation>%1
Diesen Ordner gibt es nicht.
Bitte prüfen Sie den Namen.</translation>
    </message>
    <message>
        <source>%1
File not found.
Please verify the correct file name was given.</source>
        <translation>%1
Diese Datei gibt es nicht.
Bitte prüfen Sie den Namen.</translation>
    </message>
    <message>
        <source>%1 already exists.
Do you want to replace it?</source>
        <translation>%1 gibt es schon.
Soll die Datei ersetzt werden?</translation>
    </message>
</context>
<context>
    <name>QFileSystemModel</name>
    <message>
        <source>Name</source>
        <translation>Name</translation>
    </message>
    <message>
        <source>Size</source>
        <translation>Größe</translation>
    </message>
    <message>
        <source>Date Modified</source>
        <translation>Geändert am</translation>
    </message>
    <message>
        <source>My Computer</source>
        <translation>Mein Rechner</translation>
    </message>
    <message>
        <source>Computer</source>
        <translation>Rechner</translation>
    </message>
    <message>
        <source>Type</source>
        <comment>All other platforms</comment>
        <translation>Typ</translation>
    </message>
</context>
<context>
    <name>QKeySequenceEdit</name>
    <message>
        <source>Press shortcut</source>
        <translation>Tasten drücken</translation>
    </message>
</context>
<context>
    <name>QLineEdit</name>
    <message>
        <source>&amp;Undo</source>
        <translation>&amp;Rückgängig</translation>
    </message>
    <message>
        <source>&amp;Redo</source>
        <translation>&amp;Wiederholen</translation>
    </message>
    <message>
        <source>Cu&amp;t</source>
        <translation>&amp;Ausschneiden</translation>
    </message>
    <message>
        <source>&amp;Copy</source>
        <translation>&amp;Kopieren</translation>
    </message>
    <message>
        <source>&amp;Paste</source>
        <translation>&amp;Einfügen</translation>
    </message>
    <message>
        <source>Delete</source>
        <translation>Löschen</translation>
    </message>
    <message>
        <source>Select All</source>
        <translation>Alles auswählen</translation>
    </message>
</context>
<context>
    <name>QPlatformTheme</name>
    <message>
        <source>OK</source>
        <translation>OK</translation>
    </message>
    <message>
        <source>Save</source>
        <translation>Speichern</translation>
    </message>
    <message>
        <source>Open</source>
        <translation>Öffnen</translation>
    </message>
    <message>
        <source>&amp;Yes</source>
        <translation>&amp;Ja</translation>
    </message>
    <message>
        <source>&amp;No</source>
        <translation>&amp;Nein</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>Abbrechen</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>Schließen</translation>
    </message>
    <message>
        <source>Discard</source>
        <translation>Verwerfen</translation>
    </message>
    <message>
        <source>Apply</source>
        <translation>Anwenden</translation>
    </message>
    <message>
        <source>Reset</source>
        <translation>Zurücksetzen</translation>
    </message>
    <message>
        <source>Help</source>
        <translation>Hilfe</translation>
    </message>
</context>
<context>
    <name>QScrollBar</name>
    <message>
        <source>Scroll here</source>
        <translation>Hierher blättern</translation>
    </message>
    <message>
        <source>Top</source>
        <translation>Anfang</translation>
    </message>
    <message>
        <source>Bottom</source>
        <translation>Ende</translation>
    </message>
    <message>
        <source>Left edge</source>
        <translation>Linker Rand</translation>
    </message>
    <message>
        <source>Right edge</source>
        <translation>Rechter Rand</translation>
    </message>
    <message>
        <source>Page up</source>
        <translation>Eine Seite nach oben</translation>
    </message>
    <message>
        <source>Page down</source>
        <translation>Eine Seite nach unten</translation>
    </message>
    <message>
        <source>Page left</source>
        <translation>Eine Seite nach links</translation>
    </message>
    <message>
        <source>Page right</source>
        <translation>Eine Seite nach rechts</translation>
    </message>
    <message>
        <source>Scroll up</source>
        <translation>Nach oben</translation>
    </message>
    <message>
        <source>Scroll down</source>
        <translation>Nach unten</translation>
    </message>
    <message>
        <source>Scroll left</source>
        <translation>Nach links</translation>
    </message>
    <message>
        <source>Scroll right</source>
        <translation>Nach rechts</translation>
    </message>
</context>
<context>
    <name>QShortcut</name>
    <message>
        <source>Ctrl</source>
        <translation>Strg</translation>
    </message>
    <message>
        <source>Shift</source>
        <translation>Umschalt</translation>
    </message>
    <message>
        <source>Alt</source>
        <translation>Alt</translation>
    </message>
    <message>
        <source>Meta</source>
        <translation>Meta</translation>
    </message>
    <message>
        <source>Space</source>
        <translation>Leertaste</translation>
    </message>
    <message>
        <source>Esc</source>
        <translation>Esc</translation>
    </message>
    <message>
        <source>Tab</source>
        <translation>Tab</translation>
    </message>
    <message>
        <source>Backtab</source>
        <translation>Umschalt-Tab</translation>
    </message>
    <message>
        <source>Backspace</source>
        <translation>Rücktaste</translation>
    </message>
    <message>
        <source>Return</source>
        <translation>Eingabe</translation>
    </message>
    <message>
        <source>Enter</source>
        <translation>Eingabe (Ziffernblock)</translation>
    </message>
    <message>
        <source>Ins</source>
        <translation>Einfg</translation>
    </message>
    <message>
        <source>Del</source>
        <translation>Entf</translation>
    </message>
    <message>
        <source>Pause</source>
        <translation>Pause</translation>
    </message>
    <message>
        <source>Print</source>
        <translation>Druck</translation>
    </message>
    <message>
        <source>Home</source>
        <translation>Pos1</translation>
    </message>
    <message>
        <source>End</source>
        <translation>Ende</translation>
    </message>
    <message>
        <source>Left</source>
        <translation>Links</translation>
    </message>
    <message>
        <source>Up</source>
        <translation>Oben</translation>
    </message>
    <message>
        <source>Right</source>
        <translation>Rechts</translation>
    </message>
    <message>
        <source>Down</source>
        <translation>Unten</translation>
    </message>
    <message>
        <source>PgUp</source>
        <translation>Bild auf</translation>
    </message>
    <message>
        <source>PgDown</source>
        <translation>Bild ab</translation>
    </message>
    <message>
        <source>Menu</source>
        <translation>Menü</translation>
    </message>
    <message>
        <source>F%1</source>
        <translation>F%1</translation>
    </message>
</context>
<context>
    <name>QWidgetTextControl</name>
    <message>
        <source>&amp;Undo</source>
        <translation>&amp;Rückgängig</translation>
    </message>
    <message>
        <source>&amp;Redo</source>
        <translation>&amp;Wiederholen</translation>
    </message>
    <message>
        <source>Cu&amp;t</source>
        <translation>&amp;Ausschneiden</translation>
    </message>
    <message>
        <source>&amp;Copy</source>
        <translation>&amp;Kopieren</translation>
    </message>
    <message>
        <source>Copy &amp;Link Location</source>
        <translation>&amp;Adresse des Links kopieren</translation>
    </message>
    <message>
        <source>&amp;Paste</source>
        <translation>&amp;Einfügen</translation>
    </message>
    <message>
        <source>Delete</source>
        <translation>Löschen</translation>
    </message>
    <message>
        <source>Select All</source>
        <translation>Alles auswählen</translation>
    </message>
</context>
<context>
    <name>Shortcuts</name>
    <message>
        <source>Window</source>
        <translation>Fenster</translation>
    </message>
    <message>
        <source>Model</source>
        <translation>Modell</translation>
    </message>
    <message>
        <source>Chat</source>
        <translation>Chat</translation>
    </message>
    <message>
        <source>Layout</source>
        <translation>Platzierung</translation>
    </message>
    <message>
        <source>Choose a model folder</source>
        <translation>Modellordner wählen</translation>
    </message>
    <message>
        <source>Models and load options</source>
        <translation>Modelle und Ladeoptionen</translation>
    </message>
    <message>
        <source>Load the chosen model</source>
        <translation>Das gewählte Modell laden</translation>
    </message>
    <message>
        <source>Eject the model</source>
        <translation>Modell auswerfen</translation>
    </message>
    <message>
        <source>New chat</source>
        <translation>Neuer Chat</translation>
    </message>
    <message>
        <source>Search chats</source>
        <translation>Chats durchsuchen</translation>
    </message>
    <message>
        <source>Send the message</source>
        <translation>Nachricht senden</translation>
    </message>
    <message>
        <source>New line in the message</source>
        <translation>Neue Zeile in der Nachricht</translation>
    </message>
    <message>
        <source>Attach a picture or a sound</source>
        <translation>Bild oder Ton anhängen</translation>
    </message>
    <message>
        <source>Stop the reply or the load</source>
        <translation>Antwort oder Laden anhalten</translation>
    </message>
    <message>
        <source>Regenerate the last reply</source>
        <translation>Letzte Antwort neu erzeugen</translation>
    </message>
    <message>
        <source>Delete the chat (can be undone)</source>
        <translation>Chat löschen (umkehrbar)</translation>
    </message>
    <message>
        <source>Show the chat</source>
        <translation>Chat zeigen</translation>
    </message>
    <message>
        <source>Show the layout</source>
        <translation>Platzierung zeigen</translation>
    </message>
    <message>
        <source>Show both side by side</source>
        <translation>Beides nebeneinander zeigen</translation>
    </message>
    <message>
        <source>Show or hide the list of chats</source>
        <translation>Liste der Chats ein oder aus</translation>
    </message>
    <message>
        <source>Show or hide the memory meter</source>
        <translation>Speicheranzeige ein oder aus</translation>
    </message>
    <message>
        <source>Go from block to block</source>
        <translation>Von Block zu Block gehen</translation>
    </message>
    <message>
        <source>Apply the layout</source>
        <translation>Platzierung anwenden</translation>
    </message>
    <message>
        <source>Undo</source>
        <translation>Rückgängig</translation>
    </message>
    <message>
        <source>Redo</source>
        <translation>Wiederholen</translation>
    </message>
    <message>
        <source>Larger text</source>
        <translation>Größerer Text</translation>
    </message>
    <message>
        <source>Smaller text</source>
        <translation>Kleinerer Text</translation>
    </message>
    <message>
        <source>Normal text size</source>
        <translation>Normale Textgröße</translation>
    </message>
    <message>
        <source>Settings</source>
        <translation>Einstellungen</translation>
    </message>
    <message>
        <source>Log and report</source>
        <translation>Protokoll und Bericht</translation>
    </message>
    <message>
        <source>Close Belfry</source>
        <translation>Belfry schließen</translation>
    </message>
    <message>
        <source>Continue a reply that was cut short</source>
        <translation>Eine abgebrochene Antwort fortsetzen</translation>
    </message>
    <message>
        <source>Show the version before of a message</source>
        <translation>Vorige Fassung einer Nachricht zeigen</translation>
    </message>
    <message>
        <source>Show the version after of a message</source>
        <translation>Nächste Fassung einer Nachricht zeigen</translation>
    </message>
    <message>
        <source>Copy the last code block</source>
        <translation>Letzten Codeblock kopieren</translation>
    </message>
    <message>
        <source>Keys that also type text need Ctrl or Alt.</source>
        <translation>Tasten, die auch Text schreiben, brauchen Strg oder Alt.</translation>
    </message>
    <message>
        <source>%1 is needed for editing text.</source>
        <translation>%1 wird zum Bearbeiten von Text gebraucht.</translation>
    </message>
    <message>
        <source>%1 always means: %2</source>
        <translation>%1 bedeutet immer: %2</translation>
    </message>
    <message>
        <source>Record from the microphone, again to use it</source>
        <translation>Vom Mikrofon aufnehmen, noch einmal zum Verwenden</translation>
    </message>
    <message>
        <source>Play or pause the sound in focus</source>
        <translation>Ton mit dem Fokus abspielen oder anhalten</translation>
    </message>
    <message>
        <source>Five seconds forward or back in the sound in focus</source>
        <translation>Fünf Sekunden vor oder zurück im Ton mit dem Fokus</translation>
    </message>
    <message>
        <source>Send after the running reply</source>
        <translation>Nach der laufenden Antwort senden</translation>
    </message>
    <message>
        <source>Keyboard shortcuts</source>
        <translation>Tastenkürzel</translation>
    </message>
    <message>
        <source>Pick the block up to move it</source>
        <translation>Block aufnehmen, um ihn zu bewegen</translation>
    </message>
    <message>
        <source>Choose the device for it: by an arrow, or the first to the ninth</source>
        <translation>Gerät dafür wählen: mit einem Pfeil, oder das erste bis neunte</translation>
    </message>
    <message>
        <source>Put it down there</source>
        <translation>Dort ablegen</translation>
    </message>
    <message>
        <source>Leave it where it was</source>
        <translation>Ihn lassen, wo er war</translation>
    </message>
    <message>
        <source>Split a block of layers</source>
        <translation>Block von Schichten teilen</translation>
    </message>
    <message>
        <source>Join it with its neighbour</source>
        <translation>Mit seinem Nachbarn verbinden</translation>
    </message>
    <message>
        <source>Menu of the block</source>
        <translation>Menü des Blocks</translation>
    </message>
    <message>
        <source>This computer</source>
        <translation>Dieser Rechner</translation>
    </message>
    <message>
        <source>Library of models</source>
        <translation>Modellbibliothek</translation>
    </message>
    <message>
        <source>Get a model</source>
        <translation>Modell holen</translation>
    </message>
    <message>
        <source>Find in the chat</source>
        <translation>Im Chat suchen</translation>
    </message>
    <message>
        <source>Next hit</source>
        <translation>Nächster Treffer</translation>
    </message>
    <message>
        <source>Previous hit</source>
        <translation>Voriger Treffer</translation>
    </message>
    <message>
        <source>Edit the message, or rename the chat in the list</source>
        <translation>Nachricht bearbeiten oder Chat in der Liste umbenennen</translation>
    </message>
    <message>
        <source>Draw what fits</source>
        <translation>Zeichnen, was passt</translation>
    </message>
</context>
<context>
    <name>app::AttachmentFiles</name>
    <message>
        <source>%1 cannot be read (%2), so the chat keeps only its name. Attach it again if the model needs it.</source>
        <translation>%1 ist nicht lesbar (%2), der Chat behält daher nur den Namen. Hängen Sie die Datei wieder an, wenn das Modell sie braucht.</translation>
    </message>
    <message>
        <source>%1 cannot be read to its end (%2).</source>
        <translation>%1 lässt sich nicht bis zum Ende lesen (%2).</translation>
    </message>
    <message>
        <source>The disk that holds %1 is full: an attachment could not be copied there. Free some space; the chat refers to the original file until then.</source>
        <translation>Der Datenträger mit %1 ist voll: Ein Anhang ließ sich nicht dorthin kopieren. Schaffen Sie Platz; bis dahin verweist der Chat auf die ursprüngliche Datei.</translation>
    </message>
    <message>
        <source>An attachment could not be copied to %1 (%2). Make the folder writable; the chat refers to the original file until then.</source>
        <translation>Ein Anhang ließ sich nicht nach %1 kopieren (%2). Machen Sie den Ordner beschreibbar; bis dahin verweist der Chat auf die ursprüngliche Datei.</translation>
    </message>
    <message>
        <source>%1 has more than %2 MiB, so the chat keeps only its name. Attach a smaller file.</source>
        <translation>%1 hat mehr als %2 MiB, deshalb behält der Chat nur den Namen. Hängen Sie eine kleinere Datei an.</translation>
    </message>
</context>
<context>
    <name>app::CardWatch</name>
    <message>
        <source>The graphics driver does not answer yet</source>
        <translation>Der Grafiktreiber antwortet noch nicht</translation>
    </message>
    <message>
        <source>Belfry waits up to %1 s for it, then goes on with the processor. Layouts and loading wait as well.</source>
        <translation>Belfry wartet bis zu %1 s auf ihn und macht dann mit dem Prozessor weiter. Aufteilungen und das Laden warten mit.</translation>
    </message>
    <message>
        <source>The graphics card is not used</source>
        <translation>Die Grafikkarte wird nicht benutzt</translation>
    </message>
</context>
<context>
    <name>app::ChatDatabase</name>
    <message>
        <source>The folder %1 belongs to another user, so chats are not saved. Make it yours (chown).</source>
        <translation>Der Ordner %1 gehört einem anderen Benutzer, Chats werden daher nicht gesichert. Machen Sie ihn zu Ihrem (chown).</translation>
    </message>
    <message>
        <source>The log of the latest changes is damaged, so that some of them may be missing.</source>
        <translation>Das Protokoll der letzten Änderungen ist beschädigt, einige davon können daher fehlen.</translation>
    </message>
    <message>
        <source>its log goes on behind a place that cannot be read</source>
        <translation>das Protokoll geht hinter einer Stelle weiter, die sich nicht lesen lässt</translation>
    </message>
    <message>
        <source>it is empty, and its log is not</source>
        <translation>sie ist leer, ihr Protokoll aber nicht</translation>
    </message>
    <message>
        <source>The log with the latest changes of the chats was damaged. File and log were kept as %1 and %1-wal; %2 chats could be read from them and are in the list again.</source>
        <translation>Das Protokoll mit den letzten Änderungen der Chats war beschädigt. Datei und Protokoll wurden als %1 und %1-wal behalten; %2 Chats ließen sich daraus lesen und stehen wieder in der Liste.</translation>
    </message>
    <message>
        <source>None of them is pinned any more.</source>
        <translation>Keiner davon ist mehr angeheftet.</translation>
    </message>
    <message>
        <source>Turns are missing or damaged in %1 of them.</source>
        <translation>In %1 davon fehlen Beiträge oder sind beschädigt.</translation>
    </message>
    <message>
        <source>This turn was damaged on the disk, so that not all of it is as it was written.</source>
        <translation>Dieser Beitrag wurde auf dem Datenträger beschädigt und ist daher nicht ganz so, wie er geschrieben wurde.</translation>
    </message>
    <message>
        <source>The file with the chats was damaged. It was kept as %1; what could be read from it is in the list again.</source>
        <translation>Die Datei mit den Chats war beschädigt. Sie wurde als %1 behalten; was sich daraus lesen ließ, steht wieder in der Liste.</translation>
    </message>
    <message>
        <source>The folder %1 cannot be created, so chats are not saved. Create it or make its parent folder writable.</source>
        <translation>Der Ordner %1 lässt sich nicht anlegen, Chats werden daher nicht gesichert. Legen Sie ihn an oder machen Sie den Ordner darüber beschreibbar.</translation>
    </message>
    <message>
        <source>%1 is damaged (%2).</source>
        <translation>%1 ist beschädigt (%2).</translation>
    </message>
    <message>
        <source>%1 was written by a later version of Belfry (its form is number %2, this program knows number %3), so chats are not saved. Start the later version, or move the file away.</source>
        <translation>%1 stammt von einer neueren Belfry-Version (Form %2, dieses Programm kennt %3), Chats werden daher nicht gesichert. Starten Sie die neuere Version oder verschieben Sie die Datei.</translation>
    </message>
    <message>
        <source>The file with the chats was damaged. It was kept as %1; %2 chats could be read from it and are in the list again.</source>
        <translation>Die Datei mit den Chats war beschädigt. Sie wurde als %1 behalten; %2 Chats ließen sich daraus lesen und stehen wieder in der Liste.</translation>
    </message>
    <message>
        <source>Chats cannot be saved in %1. Make the folder writable; what is not saved yet is kept in memory and saved then.</source>
        <translation>Chats lassen sich nicht in %1 sichern. Machen Sie den Ordner beschreibbar; Ungesichertes bleibt im Speicher und wird dann gesichert.</translation>
    </message>
    <message>
        <source>There is no chat %1 any more. It may have been deleted in an earlier session.</source>
        <translation>Den Chat %1 gibt es nicht mehr. Er wurde wohl in einer früheren Sitzung gelöscht.</translation>
    </message>
    <message>
        <source>The file with the chats was replaced while Belfry was running: %1. What is saved from now on goes into the new one.</source>
        <translation>Die Datei mit den Chats wurde ersetzt, während Belfry lief: %1. Was ab jetzt gesichert wird, kommt in die neue.</translation>
    </message>
    <message>
        <source>The file with the chats was deleted or moved while Belfry was running. They were written to %1 again; pictures and sounds that are gone with their folder keep their names.</source>
        <translation>Die Datei mit den Chats wurde gelöscht oder verschoben, während Belfry lief. Sie wurden wieder nach %1 geschrieben; von Bildern und Tönen, die mit ihrem Ordner fort sind, bleiben die Namen.</translation>
    </message>
    <message>
        <source>The file with the chats was deleted or moved while Belfry was running. A new one was begun, %1: the open chat is saved there.</source>
        <translation>Die Datei mit den Chats wurde gelöscht oder verschoben, während Belfry lief. Eine neue wurde begonnen, %1: Der offene Chat wird dort gesichert.</translation>
    </message>
</context>
<context>
    <name>app::Database</name>
    <message>
        <source>The disk that holds %1 is full. Free some space; what is not saved yet is kept in memory and saved then.</source>
        <translation>Der Datenträger mit %1 ist voll. Schaffen Sie Platz; Ungesichertes bleibt im Speicher und wird dann gesichert.</translation>
    </message>
    <message>
        <source>%1 cannot be written (%2). Make the file and its folder writable; what is not saved yet is kept in memory and saved then.</source>
        <translation>%1 lässt sich nicht schreiben (%2). Machen Sie Datei und Ordner beschreibbar; Ungesichertes bleibt im Speicher und wird dann gesichert.</translation>
    </message>
    <message>
        <source>%1 is in use by another program, probably a second Belfry. Close that one; what is not saved yet is kept in memory and saved then.</source>
        <translation>%1 wird von einem anderen Programm benutzt, wohl einem zweiten Belfry. Schließen Sie es; Ungesichertes bleibt im Speicher und wird dann gesichert.</translation>
    </message>
    <message>
        <source>%1 is damaged (%2).</source>
        <translation>%1 ist beschädigt (%2).</translation>
    </message>
    <message>
        <source>%1 could not be read or written (%2). Check the disk; what is not saved yet is kept in memory.</source>
        <translation>%1 ließ sich nicht lesen oder schreiben (%2). Prüfen Sie den Datenträger; Ungesichertes bleibt im Speicher.</translation>
    </message>
    <message>
        <source>no memory</source>
        <translation>kein Speicher</translation>
    </message>
    <message>
        <source>write-protected</source>
        <translation>schreibgeschützt</translation>
    </message>
    <message>
        <source>it is not open</source>
        <translation>sie ist nicht offen</translation>
    </message>
</context>
<context>
    <name>app::ExportFiles</name>
    <message>
        <source>the folder cannot be created</source>
        <translation>der Ordner lässt sich nicht anlegen</translation>
    </message>
    <message>
        <source>%1 was not imported: %2</source>
        <translation>%1 wurde nicht importiert: %2</translation>
    </message>
    <message>
        <source>it cannot be read (%1).</source>
        <translation>die Datei ist nicht lesbar (%1).</translation>
    </message>
    <message>
        <source>it is not JSON (%1, at byte %2). Choose a file that Belfry exported as JSON.</source>
        <translation>das ist kein JSON (%1, bei Byte %2). Wählen Sie eine Datei, die Belfry als JSON exportiert hat.</translation>
    </message>
    <message>
        <source>it holds more than %1 messages and attachments; no exported chat is as large.</source>
        <translation>sie enthält mehr als %1 Nachrichten und Anhänge; kein exportierter Chat ist so groß.</translation>
    </message>
    <message>
        <source>it holds no chat of Belfry (“format” is “%1”, expected “belfry-chat”, version 1, with turns). Choose a file that Belfry exported as JSON.</source>
        <translation>sie enthält keinen Chat von Belfry („format“ ist „%1“, erwartet wird „belfry-chat“, Version 1, mit Nachrichten). Wählen Sie eine Datei, die Belfry als JSON exportiert hat.</translation>
    </message>
    <message>
        <source>%1 could not be written (%2). Choose another place.</source>
        <translation>%1 ließ sich nicht schreiben (%2). Wählen Sie einen anderen Ort.</translation>
    </message>
    <message>
        <source>what is there is not a file</source>
        <translation>was dort liegt, ist keine Datei</translation>
    </message>
    <message>
        <source>Left out of the imported chat, only their names stay: %1; and %2 more.</source>
        <translation>Aus dem importierten Chat weggelassen, nur die Namen bleiben: %1; und %2 weitere.</translation>
    </message>
    <message>
        <source>Left out of the imported chat, only the name stays: %1.</source>
        <translation>Aus dem importierten Chat weggelassen, nur der Name bleibt: %1.</translation>
    </message>
    <message>
        <source>it is no picture or sound that Belfry reads</source>
        <translation>kein Bild oder Ton, das Belfry liest</translation>
    </message>
    <message>
        <source>together they have more than %1 MiB</source>
        <translation>zusammen mehr als %1 MiB</translation>
    </message>
    <message>
        <source>it has more than %1 MiB; no exported chat is as large.</source>
        <translation>sie hat mehr als %1 MiB; kein exportierter Chat ist so groß.</translation>
    </message>
</context>
<context>
    <name>app::PlainFile</name>
    <message>
        <source>it is no regular file</source>
        <translation>keine gewöhnliche Datei</translation>
    </message>
    <message>
        <source>it is a link or lies behind one</source>
        <translation>eine Verknüpfung, oder hinter einer</translation>
    </message>
    <message>
        <source>it does not lie beside the chat</source>
        <translation>liegt nicht neben dem Chat</translation>
    </message>
</context>
<context>
    <name>app::Profiles</name>
    <message>
        <source>The profile %1 was imported</source>
        <translation>Das Profil %1 wurde eingelesen</translation>
    </message>
    <message>
        <source>The profile was exported</source>
        <translation>Das Profil wurde ausgegeben</translation>
    </message>
    <message>
        <source>The profile was not read or written</source>
        <translation>Das Profil wurde nicht gelesen oder geschrieben</translation>
    </message>
</context>
<context>
    <name>app::Program</name>
    <message>
        <source>Belfry is running already, but its window does not answer.</source>
        <translation>Belfry läuft schon, aber sein Fenster antwortet nicht.</translation>
    </message>
    <message>
        <source>Wait until it does, or end the process %1 and start again.</source>
        <translation>Warten Sie darauf, oder beenden Sie den Prozess %1 und starten Sie neu.</translation>
    </message>
    <message>
        <source>Wait until it does, or end it and start again.</source>
        <translation>Warten Sie darauf, oder beenden Sie es und starten Sie neu.</translation>
    </message>
</context>
<context>
    <name>app::ServerLink</name>
    <message>
        <source>The key was not kept: it is used until Belfry ends</source>
        <translation>Der Schlüssel wurde nicht aufgehoben: Er gilt, bis Belfry endet</translation>
    </message>
    <message>
        <source>The key is still kept</source>
        <translation>Der Schlüssel ist noch aufgehoben</translation>
    </message>
</context>
<context>
    <name>app::SessionFile</name>
    <message>
        <source>%1 could not be written (%2), so the open chat is not remembered. Make the folder writable.</source>
        <translation>%1 ließ sich nicht schreiben (%2), der offene Chat wird daher nicht gemerkt. Machen Sie den Ordner beschreibbar.</translation>
    </message>
</context>
<context>
    <name>app::Wiring</name>
    <message>
        <source>The change was not kept</source>
        <translation>Die Änderung wurde nicht behalten</translation>
    </message>
    <message>
        <source>Exported</source>
        <translation>Exportiert</translation>
    </message>
    <message>
        <source>%1 was not written</source>
        <translation>%1 wurde nicht geschrieben</translation>
    </message>
    <message>
        <source>The chat could not be opened</source>
        <translation>Der Chat ließ sich nicht öffnen</translation>
    </message>
    <message>
        <source>Belfry ended unexpectedly while it was loading %1</source>
        <translation>Belfry wurde unerwartet beendet, während %1 geladen wurde</translation>
    </message>
    <message>
        <source>It was not loaded again. Your chats are as they were.</source>
        <translation>Es wurde nicht wieder geladen. Ihre Chats sind, wie sie waren.</translation>
    </message>
    <message>
        <source>Choose it again</source>
        <translation>Wieder wählen</translation>
    </message>
    <message>
        <source>Belfry ended unexpectedly last time</source>
        <translation>Belfry wurde beim letzten Mal unerwartet beendet</translation>
    </message>
    <message>
        <source>Imported</source>
        <translation>Importiert</translation>
    </message>
    <message>
        <source>The chat was not imported</source>
        <translation>Der Chat wurde nicht importiert</translation>
    </message>
    <message>
        <source>Your chats are as they were. The log may tell why: %1</source>
        <translation>Ihre Chats sind, wie sie waren. Vielleicht steht der Grund hier: %1</translation>
    </message>
    <message>
        <source>Log and report</source>
        <translation>Protokoll und Bericht</translation>
    </message>
    <message>
        <source>%1 on %2 answered last time</source>
        <translation>Zuletzt hat %1 auf %2 geantwortet</translation>
    </message>
    <message>
        <source>Nothing was asked of it since Belfry started.</source>
        <translation>Seit Belfry läuft, wurde dort nichts gefragt.</translation>
    </message>
    <message>
        <source>Connect</source>
        <translation>Verbinden</translation>
    </message>
    <message>
        <source>The engine ended and was started again</source>
        <translation>Die Maschine endete und wurde neu gestartet</translation>
    </message>
    <message>
        <source>The model is loaded again, to the same places. The chat is as it was.</source>
        <translation>Das Modell wird erneut geladen, an dieselben Plätze. Der Chat ist, wie er war.</translation>
    </message>
</context>
<context>
    <name>ui::AboutDialog</name>
    <message>
        <source>About Belfry</source>
        <translation>Über Belfry</translation>
    </message>
    <message>
        <source>Belfry %1</source>
        <translation>Belfry %1</translation>
    </message>
    <message>
        <source>Chat with multimodal models on your own hardware, each part of the model on the device that you choose.</source>
        <translation>Mit multimodalen Modellen auf der eigenen Hardware chatten, jeder Teil des Modells auf dem Gerät, das Sie wählen.</translation>
    </message>
    <message>
        <source>Built from sources without a commit, with Qt %1.</source>
        <translation>Aus Quellen ohne Commit gebaut, mit Qt %1.</translation>
    </message>
    <message>
        <source>Built from commit %1, with Qt %2.</source>
        <translation>Aus Commit %1 gebaut, mit Qt %2.</translation>
    </message>
    <message>
        <source>Belfry: Apache License 2.0. Qt, libsndfile and soxr: LGPL.</source>
        <translation>Belfry: Apache License 2.0. Qt, libsndfile und soxr: LGPL.</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>Schließen</translation>
    </message>
</context>
<context>
    <name>ui::AdapterBar</name>
    <message>
        <source>Adapters</source>
        <translation>Adapter</translation>
    </message>
    <message>
        <source>Adapter</source>
        <translation>Adapter</translation>
    </message>
    <message>
        <source>Add an adapter</source>
        <translation>Adapter hinzufügen</translation>
    </message>
    <message>
        <source>Add a LoRA adapter, a PEFT folder or a GGUF file, or drop one into the window</source>
        <translation>Einen LoRA-Adapter (PEFT-Ordner oder GGUF-Datei) hinzufügen oder ins Fenster ziehen</translation>
    </message>
    <message>
        <source>%1 adapters</source>
        <translation>%1 Adapter</translation>
    </message>
    <message>
        <source>%1 of %2 adapters</source>
        <translation>%1 von %2 Adaptern</translation>
    </message>
    <message>
        <source>%1, off</source>
        <translation>%1, aus</translation>
    </message>
    <message>
        <source>1 adapter</source>
        <translation>1 Adapter</translation>
    </message>
</context>
<context>
    <name>ui::AdapterChip</name>
    <message>
        <source>Strength %1 of 2</source>
        <translation>Stärke %1 von 2</translation>
    </message>
    <message>
        <source>Adapter %1</source>
        <translation>Adapter %1</translation>
    </message>
    <message>
        <source>Use adapter %1</source>
        <translation>Adapter %1 verwenden</translation>
    </message>
    <message>
        <source>Switch the adapter off for the next reply</source>
        <translation>Adapter für die nächste Antwort ausschalten</translation>
    </message>
    <message>
        <source>Switch the adapter on for the next reply</source>
        <translation>Adapter für die nächste Antwort einschalten</translation>
    </message>
    <message>
        <source>Strength of adapter %1</source>
        <translation>Stärke von Adapter %1</translation>
    </message>
    <message>
        <source>Strength, 0 to 2; acts on the next reply without loading again</source>
        <translation>Stärke, 0 bis 2; wirkt bei der nächsten Antwort, ohne neu zu laden</translation>
    </message>
    <message>
        <source>Remove adapter %1</source>
        <translation>Adapter %1 entfernen</translation>
    </message>
    <message>
        <source>Remove the adapter</source>
        <translation>Adapter entfernen</translation>
    </message>
    <message>
        <source>Coverage of adapter %1 is being read</source>
        <translation>Abdeckung von Adapter %1 wird gelesen</translation>
    </message>
    <message>
        <source>%1 of %2</source>
        <translation>%1 von %2</translation>
    </message>
    <message>
        <source>Coverage of adapter %1: %2 of %3 tensors</source>
        <translation>Abdeckung von Adapter %1: %2 von %3 Tensoren</translation>
    </message>
    <message>
        <source>Some tensors have no place in this model. Open the report.</source>
        <translation>Einige Tensoren haben keinen Platz in diesem Modell. Bericht öffnen.</translation>
    </message>
    <message>
        <source>Every tensor has its place. Open the coverage report.</source>
        <translation>Jeder Tensor hat seinen Platz. Bericht öffnen.</translation>
    </message>
</context>
<context>
    <name>ui::AdapterList</name>
    <message>
        <source>Adapters</source>
        <translation>Adapter</translation>
    </message>
</context>
<context>
    <name>ui::AttachmentChip</name>
    <message>
        <source>Remove %1</source>
        <translation>%1 entfernen</translation>
    </message>
    <message>
        <source>measuring…</source>
        <translation>misst …</translation>
    </message>
    <message>
        <source>vision on %1</source>
        <translation>Bild auf %1</translation>
    </message>
    <message>
        <source>audio on %1</source>
        <translation>Audio auf %1</translation>
    </message>
    <message>
        <source>about %1</source>
        <translation>etwa %1</translation>
    </message>
    <message>
        <source>Picture %1: %2</source>
        <translation>Bild %1: %2</translation>
    </message>
    <message>
        <source>Sound %1: %2</source>
        <translation>Ton %1: %2</translation>
    </message>
    <message>
        <source>Choose a part</source>
        <translation>Teil auswählen</translation>
    </message>
    <message>
        <source>Choose the part of %1 that is used</source>
        <translation>Teil von %1 auswählen, der verwendet wird</translation>
    </message>
    <message>
        <source>Use the first %1</source>
        <translation>Die ersten %1 verwenden</translation>
    </message>
    <message>
        <source>%1 to %2 of %3</source>
        <translation>%1 bis %2 von %3</translation>
    </message>
    <message>
        <source>%1 to %2</source>
        <translation>%1 bis %2</translation>
    </message>
    <message>
        <source>%1 is %2 long, and the model hears at most %3 at a time. Choose which part.</source>
        <translation>%1 ist %2 lang, und das Modell hört höchstens %3 auf einmal. Wählen Sie, welchen Teil.</translation>
    </message>
    <message>
        <source>Enter shows the picture large</source>
        <translation>Die Eingabetaste zeigt das Bild groß</translation>
    </message>
</context>
<context>
    <name>ui::BlockSentence</name>
    <message>
        <source>moving it there saves %1 of VRAM</source>
        <translation>dorthin verschoben spart es %1 VRAM</translation>
    </message>
    <message>
        <source>that keeps %1 of VRAM free</source>
        <translation>das hält %1 VRAM frei</translation>
    </message>
    <message>
        <source>a look-up table; one row of it is read per token, so it is as good in main memory: %1.</source>
        <translation>eine Nachschlagetabelle; je Token wird eine Zeile gelesen, deshalb ist sie im Hauptspeicher ebenso gut aufgehoben: %1.</translation>
    </message>
    <message>
        <source>a look-up table; one row of %1 is read per token, so it is as good in main memory: %2.</source>
        <translation>eine Nachschlagetabelle; je Token wird eine Zeile von %1 gelesen, deshalb ist sie im Hauptspeicher ebenso gut aufgehoben: %2.</translation>
    </message>
    <message>
        <source>turns a picture into tokens before the reply; text alone never uses it.</source>
        <translation>macht vor der Antwort aus einem Bild Token; Text allein braucht ihn nie.</translation>
    </message>
    <message>
        <source>turns a sound into tokens before the reply; text alone never uses it.</source>
        <translation>macht vor der Antwort aus einer Aufnahme Token; Text allein braucht ihn nie.</translation>
    </message>
    <message>
        <source>Here a picture takes about %1.</source>
        <translation>Hier dauert ein Bild etwa %1.</translation>
    </message>
    <message>
        <source>Here 10 s of sound take about %1.</source>
        <translation>Hier dauern 10 s Ton etwa %1.</translation>
    </message>
    <message>
        <source>On the CPU it is slower and saves %1 of VRAM.</source>
        <translation>Auf der CPU ist er langsamer und spart %1 VRAM.</translation>
    </message>
    <message>
        <source>On a card it is faster and takes %1 of VRAM.</source>
        <translation>Auf einer Karte ist er schneller und braucht %1 VRAM.</translation>
    </message>
    <message>
        <source>specialists, of which each token uses a few; the others only wait, so main memory serves them well: %1.</source>
        <translation>Spezialisten, von denen jedes Token einige braucht; die anderen warten nur, deshalb genügt ihnen der Hauptspeicher: %1.</translation>
    </message>
    <message>
        <source>specialists, of which each token uses %1 of %2: %3 are read per token, the rest waits, so main memory serves them well: %4.</source>
        <translation>Spezialisten, von denen jedes Token %1 von %2 braucht: je Token werden %3 gelesen, der Rest wartet, deshalb genügt ihnen der Hauptspeicher: %4.</translation>
    </message>
    <message>
        <source>the model itself, one layer after the other. Every token reads all %1 of them, so they are fastest where memory is fastest.</source>
        <translation>das eigentliche Modell, eine Schicht nach der anderen. Jedes Token liest alle %1 davon, deshalb sind sie dort am schnellsten, wo es der Speicher ist.</translation>
    </message>
    <message>
        <source>hands what the vision tower saw to the layers; small (%1), and best where the tower is.</source>
        <translation>reicht den Schichten weiter, was der Bildturm sah; klein (%1) und am besten dort, wo der Turm ist.</translation>
    </message>
    <message>
        <source>hands what the audio tower heard to the layers; small (%1), and best where the tower is.</source>
        <translation>reicht den Schichten weiter, was der Audioturm hörte; klein (%1) und am besten dort, wo der Turm ist.</translation>
    </message>
    <message>
        <source>the list of words, for reading and for writing. Each token looks up one row and is chosen by reading all %1, so it belongs where the last layers are.</source>
        <translation>die Liste der Wörter, zum Lesen und zum Schreiben. Jedes Token schlägt eine Zeile nach und wird gewählt, indem alle %1 gelesen werden; sie gehört dorthin, wo die letzten Schichten sind.</translation>
    </message>
    <message>
        <source>chooses the next word out of all. Each token reads all %1 of it, so it belongs where the last layers are.</source>
        <translation>wählt aus allen Wörtern das nächste. Jedes Token liest alle %1 davon, deshalb gehört er dorthin, wo die letzten Schichten sind.</translation>
    </message>
    <message>
        <source>a small model that guesses the next tokens for the large one to check. Each guess reads all %1 of it, so it is fastest on the card.</source>
        <translation>ein kleines Modell, das die nächsten Token rät; das große prüft sie. Jeder Versuch liest alle %1 davon, deshalb ist er auf der Karte am schnellsten.</translation>
    </message>
    <message>
        <source>small pieces (%1) between the others, used for every token; best where the layers are.</source>
        <translation>kleine Stücke (%1) zwischen den anderen, die jedes Token braucht; am besten dort, wo die Schichten sind.</translation>
    </message>
    <message>
        <source>attention memory: what the model keeps of the chat, %1 for %2 tokens. Each token reads what is filled of it; a shorter context takes less.</source>
        <translation>Gedächtnis der Aufmerksamkeit: was das Modell vom Chat behält, %1 für %2 Token. Jedes Token liest, was davon gefüllt ist; ein kürzerer Kontext braucht weniger.</translation>
    </message>
    <message>
        <source>%1: %2</source>
        <comment>name of a block, then what it is</comment>
        <translation>%1: %2</translation>
    </message>
</context>
<context>
    <name>ui::BlockWidget</name>
    <message>
        <source>M moves it, S splits, J joins, arrow keys go to other blocks</source>
        <translation>M bewegt, S teilt, J verbindet, Pfeiltasten gehen zu anderen Blöcken</translation>
    </message>
    <message>
        <source>Split into %1 – %2 and %3 – %4</source>
        <translation>In %1 – %2 und %3 – %4 teilen</translation>
    </message>
</context>
<context>
    <name>ui::Budget</name>
    <message>
        <source>Almost full</source>
        <translation>Fast voll</translation>
    </message>
    <message>
        <source>Belfry has %1 of the %2 that the system gives it here. What comes on top lies in main memory and is many times slower.</source>
        <translation>Belfry hat %1 von den %2, die das System ihm hier gibt. Was darüber hinausgeht, liegt im Hauptspeicher und ist um ein Vielfaches langsamer.</translation>
    </message>
    <message>
        <source>%1 spilled into main memory</source>
        <translation>%1 in den Hauptspeicher ausgelagert</translation>
    </message>
    <message>
        <source>The system gives Belfry %1 here and has moved the rest. Replies are many times slower until it is back.</source>
        <translation>Das System gibt Belfry hier %1 und hat den Rest verschoben. Antworten sind um ein Vielfaches langsamer, bis er zurück ist.</translation>
    </message>
    <message>
        <source>No move of parts ends it: choose a smaller format or context.</source>
        <translation>Kein Verschieben von Teilen beendet das: ein kleineres Format oder einen kleineren Kontext wählen.</translation>
    </message>
    <message>
        <source>This ends it:</source>
        <translation>Das beendet es:</translation>
    </message>
    <message>
        <source>This helps, and is not enough:</source>
        <translation>Das hilft, reicht aber nicht:</translation>
    </message>
    <message>
        <source>%1: frees %2</source>
        <translation>%1: macht %2 frei</translation>
    </message>
</context>
<context>
    <name>ui::ChatExport</name>
    <message numerus="yes">
        <source>%n tokens</source>
        <translation>
            <numerusform>%n Token</numerusform>
            <numerusform>%n Token</numerusform>
        </translation>
    </message>
    <message>
        <source>%1 tokens/s</source>
        <translation>%1 Token/s</translation>
    </message>
    <message>
        <source>first token after %1 s</source>
        <translation>1. Token nach %1 s</translation>
    </message>
    <message>
        <source>seed %1</source>
        <translation>Startwert %1</translation>
    </message>
    <message>
        <source>stopped</source>
        <translation>angehalten</translation>
    </message>
    <message>
        <source>interrupted</source>
        <translation>unterbrochen</translation>
    </message>
    <message>
        <source>context full</source>
        <translation>Kontext voll</translation>
    </message>
    <message>
        <source>length limit</source>
        <translation>Längengrenze</translation>
    </message>
    <message>
        <source>failed</source>
        <translation>fehlgeschlagen</translation>
    </message>
    <message>
        <source>You</source>
        <translation>Sie</translation>
    </message>
    <message>
        <source>Model</source>
        <translation>Modell</translation>
    </message>
    <message>
        <source>Left out of the context</source>
        <translation>Nicht mehr im Kontext</translation>
    </message>
    <message>
        <source>Thinking</source>
        <translation>Denken</translation>
    </message>
    <message>
        <source>Chat</source>
        <translation>Chat</translation>
    </message>
    <message>
        <source>New chat</source>
        <translation>Neuer Chat</translation>
    </message>
    <message>
        <source>System prompt</source>
        <translation>Systemprompt</translation>
    </message>
</context>
<context>
    <name>ui::ChatModel</name>
    <message>
        <source>You</source>
        <translation>Sie</translation>
    </message>
    <message>
        <source>Model</source>
        <translation>Modell</translation>
    </message>
    <message>
        <source>picture %1</source>
        <translation>Bild %1</translation>
    </message>
    <message>
        <source>sound %1</source>
        <translation>Ton %1</translation>
    </message>
    <message>
        <source>version %1 of %2</source>
        <translation>Fassung %1 von %2</translation>
    </message>
</context>
<context>
    <name>ui::ChatNotice</name>
    <message>
        <source>Notice</source>
        <translation>Hinweis</translation>
    </message>
    <message>
        <source>Close this notice</source>
        <translation>Hinweis schließen</translation>
    </message>
</context>
<context>
    <name>ui::ChatSettings</name>
    <message>
        <source>Model default</source>
        <translation>Modellvorgabe</translation>
    </message>
    <message>
        <source>Exact (always the likeliest word)</source>
        <translation>Genau (immer das wahrscheinlichste Wort)</translation>
    </message>
    <message>
        <source>Calm</source>
        <translation>Ruhig</translation>
    </message>
    <message>
        <source>Lively</source>
        <translation>Lebhaft</translation>
    </message>
    <message>
        <source>summarise</source>
        <translation>zusammenfassen</translation>
    </message>
    <message>
        <source>Summarise this in five short points:

</source>
        <translation>Fasse das in fünf kurzen Punkten zusammen:

</translation>
    </message>
    <message>
        <source>explain</source>
        <translation>erklaeren</translation>
    </message>
    <message>
        <source>Explain this step by step to somebody new to the subject:

</source>
        <translation>Erkläre das Schritt für Schritt jemandem, der neu im Thema ist:

</translation>
    </message>
    <message>
        <source>describe</source>
        <translation>beschreiben</translation>
    </message>
    <message>
        <source>Describe this picture in detail.</source>
        <translation>Beschreibe dieses Bild genau.</translation>
    </message>
    <message>
        <source>transcribe</source>
        <translation>abschreiben</translation>
    </message>
    <message>
        <source>Write down word for word what is said in this recording.</source>
        <translation>Schreibe Wort für Wort auf, was in dieser Aufnahme gesagt wird.</translation>
    </message>
    <message>
        <source>review</source>
        <translation>pruefen</translation>
    </message>
    <message>
        <source>Review this code. Name mistakes first, then what could be simpler:

</source>
        <translation>Prüfe diesen Code. Nenne zuerst Fehler, dann, was einfacher sein könnte:

</translation>
    </message>
</context>
<context>
    <name>ui::ChatView</name>
    <message>
        <source>System prompt</source>
        <translation>Systemprompt</translation>
    </message>
    <message>
        <source>Sampling</source>
        <translation>Sampling</translation>
    </message>
    <message>
        <source>Compare</source>
        <translation>Vergleichen</translation>
    </message>
    <message>
        <source>Ask the last question again, without and with adapters, side by side</source>
        <translation>Die letzte Frage noch einmal stellen, ohne und mit Adaptern, nebeneinander</translation>
    </message>
    <message>
        <source>What would you like to know?</source>
        <translation>Was möchten Sie wissen?</translation>
    </message>
    <message>
        <source>Write below. Drop a picture or a sound to ask about it; its cost is shown before you send.</source>
        <translation>Schreiben Sie unten. Legen Sie ein Bild oder einen Ton ab, um danach zu fragen; die Kosten stehen da, bevor Sie senden.</translation>
    </message>
    <message>
        <source>To the end</source>
        <translation>Zum Ende</translation>
    </message>
    <message>
        <source>Scroll to the end of the conversation</source>
        <translation>Zum Ende der Unterhaltung rollen</translation>
    </message>
    <message>
        <source>Drop pictures and sounds to ask about them</source>
        <translation>Bilder und Töne hier ablegen, um danach zu fragen</translation>
    </message>
    <message>
        <source>Write a question first; Compare asks it of the model with and without its adapters.</source>
        <translation>Schreiben Sie erst eine Frage; Vergleichen stellt sie dem Modell ohne und mit Adaptern.</translation>
    </message>
    <message>
        <source>Open this address in the browser?
%1</source>
        <translation>Diese Adresse im Browser öffnen?
%1</translation>
    </message>
    <message>
        <source>Open</source>
        <translation>Öffnen</translation>
    </message>
    <message>
        <source>Copy</source>
        <translation>Kopieren</translation>
    </message>
    <message>
        <source>System prompt: set</source>
        <translation>Systemprompt: gesetzt</translation>
    </message>
    <message>
        <source>What the model is told before the first message</source>
        <translation>Was das Modell vor der ersten Nachricht erfährt</translation>
    </message>
    <message>
        <source>Sampling: %1</source>
        <translation>Sampling: %1</translation>
    </message>
    <message>
        <source>How the next words are chosen; per chat</source>
        <translation>Wie die nächsten Wörter gewählt werden; je Chat</translation>
    </message>
    <message>
        <source>Add pictures or sounds</source>
        <translation>Bilder oder Töne hinzufügen</translation>
    </message>
    <message>
        <source>Pictures and sounds (*.png *.jpg *.jpeg *.webp *.wav *.flac *.ogg *.opus *.mp3 *.aiff *.aif)</source>
        <translation>Bilder und Töne (*.png *.jpg *.jpeg *.webp *.wav *.flac *.ogg *.opus *.mp3 *.aiff *.aif)</translation>
    </message>
    <message>
        <source>No model is loaded. Choose one at the top left, then press Load; your message stays here.</source>
        <translation>Es ist kein Modell geladen. Wählen Sie oben links eines und drücken Sie Laden; Ihre Nachricht bleibt hier.</translation>
    </message>
    <message>
        <source>This message alone has about %1 tokens, the context holds %2. Shorten it, leave out a file, or make the context larger.</source>
        <translation>Allein diese Nachricht hat etwa %1 Token, der Kontext fasst %2. Kürzen Sie sie, lassen Sie eine Datei weg oder vergrößern Sie den Kontext.</translation>
    </message>
    <message>
        <source>Make the context larger…</source>
        <translation>Kontext vergrößern …</translation>
    </message>
    <message>
        <source>The context is full, so the reply stops here.</source>
        <translation>Der Kontext ist voll, die Antwort endet daher hier.</translation>
    </message>
    <message>
        <source>Leave out the oldest turns and send</source>
        <translation>Älteste Beiträge weglassen und senden</translation>
    </message>
    <message>
        <source>Leave out the oldest turns</source>
        <translation>Älteste Beiträge weglassen</translation>
    </message>
    <message>
        <source>Back to editing</source>
        <translation>Zurück zum Bearbeiten</translation>
    </message>
    <message>
        <source>There is no older turn to leave out: the last question has to stay. Shorten it or make the context larger.</source>
        <translation>Es gibt keinen älteren Beitrag zum Weglassen: Die letzte Frage muss bleiben. Kürzen Sie sie oder vergrößern Sie den Kontext.</translation>
    </message>
    <message>
        <source>The model no longer sees the oldest part (%1); a line marks the place.</source>
        <translation>Das Modell sieht den ältesten Teil (%1) nicht mehr; eine Linie markiert die Stelle.</translation>
    </message>
    <message>
        <source>Undo</source>
        <translation>Rückgängig</translation>
    </message>
    <message>
        <source>Deleted: %1.</source>
        <translation>Gelöscht: %1.</translation>
    </message>
    <message>
        <source>Only a reply that was stopped or reached its token limit can be continued.</source>
        <translation>Nur eine Antwort, die angehalten wurde oder an ihre Tokengrenze kam, lässt sich fortsetzen.</translation>
    </message>
    <message>
        <source>The adapters act from the next reply on; this one goes on as it began.</source>
        <translation>Die Adapter wirken ab der nächsten Antwort; diese läuft weiter, wie sie begann.</translation>
    </message>
    <message>
        <source>The former reply and what follows it (%1) are kept as the version before</source>
        <translation>Die frühere Antwort und was ihr folgt (%1) bleiben als vorige Fassung erhalten</translation>
    </message>
    <message>
        <source>The former reply is kept as the version before</source>
        <translation>Die frühere Antwort bleibt als vorige Fassung erhalten</translation>
    </message>
    <message>
        <source>%1 is not there, or is no picture: it was not opened.</source>
        <translation>%1 ist nicht da oder kein Bild: Es wurde nicht geöffnet.</translation>
    </message>
    <message>
        <source>and %1 more</source>
        <translation>und %1 weitere</translation>
    </message>
    <message>
        <source>All attachments were removed from the message.</source>
        <translation>Alle Anhänge wurden aus der Nachricht entfernt.</translation>
    </message>
    <message>
        <source>Load with pictures and sounds</source>
        <translation>Mit Bildern und Klängen laden</translation>
    </message>
    <message>
        <source>What you write and attach is sent to %1</source>
        <translation>Was Sie schreiben und anhängen, geht an %1</translation>
    </message>
    <message>
        <source>The whole conversation up to here would be sent to %1, which has not had all of it yet.</source>
        <translation>Das ganze Gespräch bis hierher ginge an %1; dort ist noch nicht alles davon.</translation>
    </message>
    <message>
        <source>Send it there</source>
        <translation>Dorthin senden</translation>
    </message>
    <message>
        <source>%1 begins every reply anew. Let it reply once more, or ask for the rest.</source>
        <translation>%1 beginnt jede Antwort neu. Lassen Sie noch einmal antworten, oder fragen Sie nach dem Rest.</translation>
    </message>
    <message>
        <source>It is asked again by itself.</source>
        <translation>Er wird von selbst wieder gefragt.</translation>
    </message>
    <message>
        <source>The reply was changed.</source>
        <translation>Die Antwort wurde geändert.</translation>
    </message>
    <message>
        <source>%1 (fork)</source>
        <comment>title of a chat</comment>
        <translation>%1 (Abzweig)</translation>
    </message>
    <message>
        <source>This is a chat of its own now; the one it comes from is unchanged.</source>
        <translation>Dies ist jetzt ein eigener Chat; der, aus dem er stammt, ist unverändert.</translation>
    </message>
</context>
<context>
    <name>ui::ChatWords</name>
    <message>
        <source>1 token</source>
        <translation>1 Token</translation>
    </message>
    <message>
        <source>%1 tokens</source>
        <translation>%1 Token</translation>
    </message>
    <message>
        <source>1 message</source>
        <translation>1 Nachricht</translation>
    </message>
    <message>
        <source>%1 messages</source>
        <translation>%1 Nachrichten</translation>
    </message>
</context>
<context>
    <name>ui::ChosenChip</name>
    <message>
        <source>Load</source>
        <translation>Laden</translation>
    </message>
    <message>
        <source>Why?</source>
        <translation>Warum?</translation>
    </message>
    <message>
        <source>Say why the folder cannot be used</source>
        <translation>Sagen, warum der Ordner nicht zu gebrauchen ist</translation>
    </message>
    <message>
        <source>Say why</source>
        <translation>Sagen, warum</translation>
    </message>
    <message>
        <source>cannot be used</source>
        <translation>nicht verwendbar</translation>
    </message>
    <message>
        <source>reading …</source>
        <translation>wird gelesen …</translation>
    </message>
    <message>
        <source>not loaded</source>
        <translation>nicht geladen</translation>
    </message>
    <message>
        <source>Load %1</source>
        <translation>%1 laden</translation>
    </message>
    <message>
        <source>Load %1 in the place of %2</source>
        <translation>%1 anstelle von %2 laden</translation>
    </message>
    <message>
        <source>Back to %1</source>
        <translation>Zurück zu %1</translation>
    </message>
    <message>
        <source>Leave it: %1 stays loaded and chosen</source>
        <translation>Nicht: %1 bleibt geladen und gewählt</translation>
    </message>
    <message>
        <source>Chosen: %1, %2</source>
        <translation>Gewählt: %1, %2</translation>
    </message>
    <message>
        <source>Load here</source>
        <translation>Hier laden</translation>
    </message>
</context>
<context>
    <name>ui::CompareColumn</name>
    <message>
        <source>Base model</source>
        <translation>Basismodell</translation>
    </message>
    <message>
        <source>Column %1</source>
        <translation>Spalte %1</translation>
    </message>
    <message>
        <source>Remove column %1</source>
        <translation>Spalte %1 entfernen</translation>
    </message>
    <message>
        <source>Answer in column %1</source>
        <translation>Antwort in Spalte %1</translation>
    </message>
    <message>
        <source>Strength of %1 in column %2</source>
        <translation>Stärke von %1 in Spalte %2</translation>
    </message>
    <message>
        <source>%1 in column %2</source>
        <translation>%1 in Spalte %2</translation>
    </message>
    <message>
        <source>Waits for its turn</source>
        <translation>Wartet auf seine Reihe</translation>
    </message>
    <message>
        <source>Reads the prompt</source>
        <translation>Liest die Frage</translation>
    </message>
    <message numerus="yes">
        <source>Thinks, %n tokens</source>
        <translation>
            <numerusform>Denkt, %n Token</numerusform>
            <numerusform>Denkt, %n Token</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Answers, %n tokens</source>
        <translation>
            <numerusform>Antwortet, %n Token</numerusform>
            <numerusform>Antwortet, %n Token</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n tokens</source>
        <translation>
            <numerusform>%n Token</numerusform>
            <numerusform>%n Token</numerusform>
        </translation>
    </message>
    <message>
        <source>%1 tokens/s</source>
        <translation>%1 Token/s</translation>
    </message>
    <message>
        <source>first token after %1</source>
        <translation>1. Token nach %1</translation>
    </message>
    <message>
        <source>seed %1</source>
        <translation>Startwert %1</translation>
    </message>
    <message numerus="yes">
        <source>%n words of thought, not shown</source>
        <translation>
            <numerusform>%n Wort Gedanken, nicht gezeigt</numerusform>
            <numerusform>%n Wörter Gedanken, nicht gezeigt</numerusform>
        </translation>
    </message>
    <message>
        <source>stopped</source>
        <translation>angehalten</translation>
    </message>
    <message>
        <source>context full</source>
        <translation>Kontext voll</translation>
    </message>
    <message>
        <source>length limit reached</source>
        <translation>Längengrenze erreicht</translation>
    </message>
    <message>
        <source>Stopped before its turn</source>
        <translation>Vor der Reihe angehalten</translation>
    </message>
    <message>
        <source>Same words as column 1</source>
        <translation>Gleiche Wörter wie Spalte 1</translation>
    </message>
    <message>
        <source>Differs from column 1 from word %1 on</source>
        <translation>Weicht ab Wort %1 von Spalte 1 ab</translation>
    </message>
    <message>
        <source>%1 on %2</source>
        <translation>%1 auf %2</translation>
    </message>
    <message>
        <source>KV cache in 8 bits</source>
        <translation>KV-Cache in 8 Bit</translation>
    </message>
    <message>
        <source>KV cache in 16 bits</source>
        <translation>KV-Cache in 16 Bit</translation>
    </message>
    <message>
        <source>As it is loaded</source>
        <translation>Wie es geladen ist</translation>
    </message>
    <message>
        <source>Placement</source>
        <translation>Platzierung</translation>
    </message>
    <message>
        <source>Weights</source>
        <translation>Gewichte</translation>
    </message>
    <message>
        <source>KV cache</source>
        <translation>KV-Cache</translation>
    </message>
    <message>
        <source>16 bits</source>
        <translation>16 Bit</translation>
    </message>
    <message>
        <source>8 bits</source>
        <translation>8 Bit</translation>
    </message>
    <message>
        <source>Another file or folder</source>
        <translation>Eine andere Datei oder ein anderer Ordner</translation>
    </message>
    <message>
        <source>Load of column %1: %2</source>
        <translation>Ladung von Spalte %1: %2</translation>
    </message>
    <message>
        <source>Loads for this column: %1 of %2</source>
        <translation>Lädt für diese Spalte: %1 von %2</translation>
    </message>
    <message>
        <source>Loads for this column</source>
        <translation>Lädt für diese Spalte</translation>
    </message>
</context>
<context>
    <name>ui::ComparePane</name>
    <message>
        <source>Column</source>
        <translation>Spalte</translation>
    </message>
    <message>
        <source>Copy all</source>
        <translation>Alles kopieren</translation>
    </message>
    <message>
        <source>Mark differences</source>
        <translation>Unterschiede markieren</translation>
    </message>
    <message>
        <source>Compare</source>
        <translation>Vergleichen</translation>
    </message>
    <message>
        <source>Close the comparison</source>
        <translation>Vergleich schließen</translation>
    </message>
    <message>
        <source>Back to the chat (Esc)</source>
        <translation>Zurück zum Chat (Esc)</translation>
    </message>
    <message>
        <source>Prompt for all columns</source>
        <translation>Frage für alle Spalten</translation>
    </message>
    <message>
        <source>What should all columns answer?</source>
        <translation>Was sollen alle Spalten beantworten?</translation>
    </message>
    <message>
        <source>Seed</source>
        <translation>Startwert</translation>
    </message>
    <message>
        <source>The same number gives the same answer again</source>
        <translation>Dieselbe Zahl gibt dieselbe Antwort noch einmal</translation>
    </message>
    <message>
        <source>Longest answer, in tokens</source>
        <translation>Längste Antwort in Token</translation>
    </message>
    <message>
        <source>Longest answer</source>
        <translation>Längste Antwort</translation>
    </message>
    <message>
        <source>Add a column</source>
        <translation>Spalte hinzufügen</translation>
    </message>
    <message>
        <source>Another set of adapters, up to four columns</source>
        <translation>Ein weiterer Satz Adapter, bis zu vier Spalten</translation>
    </message>
    <message>
        <source>Prompt, seed and all answers as Markdown</source>
        <translation>Frage, Startwert und alle Antworten als Markdown</translation>
    </message>
    <message>
        <source>With %1</source>
        <translation>Mit %1</translation>
    </message>
    <message>
        <source>Stop</source>
        <translation>Halt</translation>
    </message>
    <message>
        <source>Run</source>
        <translation>Start</translation>
    </message>
    <message>
        <source>Stops the column that answers and drops the rest (Esc)</source>
        <translation>Hält die antwortende Spalte an und lässt den Rest weg (Esc)</translation>
    </message>
    <message>
        <source>Answers column by column (Ctrl+Enter)</source>
        <translation>Antwortet Spalte für Spalte (Strg+Eingabe)</translation>
    </message>
    <message>
        <source>No adapter is loaded, so there is only the base to answer. Add adapters in the bar at the top.</source>
        <translation>Es ist kein Adapter geladen, also antwortet nur die Basis. Fügen Sie oben Adapter hinzu.</translation>
    </message>
    <message>
        <source>Load a model to run the comparison.</source>
        <translation>Laden Sie ein Modell, um zu vergleichen.</translation>
    </message>
    <message>
        <source>Prompt</source>
        <translation>Frage</translation>
    </message>
    <message>
        <source>seed %1</source>
        <translation>Startwert %1</translation>
    </message>
    <message>
        <source>One prompt and one seed for all columns.</source>
        <translation>Eine Frage und ein Startwert für alle Spalten.</translation>
    </message>
    <message>
        <source>As it was placed before</source>
        <translation>Wie es vorher lag</translation>
    </message>
    <message>
        <source>As it is placed now</source>
        <translation>Wie es jetzt liegt</translation>
    </message>
    <message>
        <source>Identical</source>
        <translation>Gleich</translation>
    </message>
    <message>
        <source>The same words</source>
        <translation>Dieselben Wörter</translation>
    </message>
    <message>
        <source>Another answer from word %1 on</source>
        <translation>Andere Antwort ab Wort %1</translation>
    </message>
    <message>
        <source>%1 of VRAM freed</source>
        <translation>%1 VRAM frei geworden</translation>
    </message>
    <message>
        <source>%1 more VRAM</source>
        <translation>%1 mehr VRAM</translation>
    </message>
    <message>
        <source>%1 of main memory freed</source>
        <translation>%1 Hauptspeicher frei geworden</translation>
    </message>
    <message>
        <source>%1 more main memory</source>
        <translation>%1 mehr Hauptspeicher</translation>
    </message>
    <message>
        <source>pictures %1 slower</source>
        <translation>Bilder %1 langsamer</translation>
    </message>
    <message>
        <source>each picture about %1 slower</source>
        <translation>jedes Bild etwa %1 langsamer</translation>
    </message>
    <message>
        <source>pictures %1 faster</source>
        <translation>Bilder %1 schneller</translation>
    </message>
    <message>
        <source>each picture about %1 faster</source>
        <translation>jedes Bild etwa %1 schneller</translation>
    </message>
    <message>
        <source>%1 tokens/s, before %2</source>
        <translation>%1 Token/s, vorher %2</translation>
    </message>
    <message>
        <source>What was loaded before comes back: %1 of %2</source>
        <translation>Was vorher geladen war, kommt zurück: %1 von %2</translation>
    </message>
    <message>
        <source>Columns with another load are loaded first, one after the other; what is loaded now comes back at the end.</source>
        <translation>Spalten mit anderer Ladung werden nacheinander erst geladen; was jetzt geladen ist, kommt am Ende zurück.</translation>
    </message>
</context>
<context>
    <name>ui::Composer</name>
    <message>
        <source>Prompt shortcuts (type / at the start)</source>
        <translation>Textkürzel (/ am Anfang tippen)</translation>
    </message>
    <message>
        <source>Send</source>
        <translation>Senden</translation>
    </message>
    <message>
        <source>Stop</source>
        <translation>Halt</translation>
    </message>
    <message>
        <source>Cancel (Esc)</source>
        <translation>Abbrechen (Esc)</translation>
    </message>
    <message>
        <source>Cancel editing</source>
        <translation>Bearbeiten abbrechen</translation>
    </message>
    <message>
        <source>Message</source>
        <translation>Nachricht</translation>
    </message>
    <message>
        <source>Send the message (Enter)</source>
        <translation>Nachricht senden (Eingabe)</translation>
    </message>
    <message>
        <source>Stop the reply (Esc); what is written stays</source>
        <translation>Antwort anhalten (Esc); Geschriebenes bleibt</translation>
    </message>
    <message>
        <source>Prompt shortcuts</source>
        <translation>Textkürzel</translation>
    </message>
    <message>
        <source>Save this message as a shortcut</source>
        <translation>Diese Nachricht als Kürzel sichern</translation>
    </message>
    <message>
        <source>Forget a shortcut</source>
        <translation>Kürzel vergessen</translation>
    </message>
    <message>
        <source>cost known once a model is loaded</source>
        <translation>Kosten bekannt, sobald ein Modell geladen ist</translation>
    </message>
    <message>
        <source>%1 is neither a picture (PNG, JPEG, WebP) nor a sound (WAV, FLAC, Ogg, MP3, AIFF).</source>
        <translation>%1 ist weder ein Bild (PNG, JPEG, WebP) noch ein Ton (WAV, FLAC, Ogg, MP3, AIFF).</translation>
    </message>
    <message>
        <source>%1 was not added: this model has no vision tower and cannot see pictures.</source>
        <translation>%1 wurde nicht hinzugefügt: Dieses Modell hat keinen Bildturm und sieht keine Bilder.</translation>
    </message>
    <message>
        <source>%1 was not added: this model has no audio tower and cannot hear sounds.</source>
        <translation>%1 wurde nicht hinzugefügt: Dieses Modell hat keinen Audioturm und hört keine Töne.</translation>
    </message>
    <message>
        <source>%1 was not added: a message takes at most %2 files.</source>
        <translation>%1 wurde nicht hinzugefügt: Eine Nachricht fasst höchstens %2 Dateien.</translation>
    </message>
    <message>
        <source>pasted picture</source>
        <translation>eingefügtes Bild</translation>
    </message>
    <message>
        <source>The pasted picture could not be written to %1; check that there is room and the folder can be written.</source>
        <translation>Das eingefügte Bild ließ sich nicht nach %1 schreiben; prüfen Sie Platz und Schreibrecht des Ordners.</translation>
    </message>
    <message>
        <source>Ask about text, a picture or a sound… drop files here or paste them</source>
        <translation>Nach Text, Bild oder Ton fragen … Dateien hierher ziehen oder einfügen</translation>
    </message>
    <message>
        <source>Ask about text or a picture… drop files here or paste them</source>
        <translation>Nach Text oder einem Bild fragen … Dateien hierher ziehen oder einfügen</translation>
    </message>
    <message>
        <source>Write a message</source>
        <translation>Nachricht schreiben</translation>
    </message>
    <message>
        <source>Stopping…</source>
        <translation>Hält an …</translation>
    </message>
    <message>
        <source>Resend</source>
        <translation>Neu senden</translation>
    </message>
    <message>
        <source>Will be sent when the reply is finished</source>
        <translation>Wird gesendet, wenn die Antwort fertig ist</translation>
    </message>
    <message>
        <source>Load a model to send</source>
        <translation>Zum Senden ein Modell laden</translation>
    </message>
    <message>
        <source>Esc stops</source>
        <translation>Esc hält an</translation>
    </message>
    <message>
        <source>Enter sends · Shift+Enter starts a new line</source>
        <translation>Eingabe sendet · Umschalt+Eingabe neue Zeile</translation>
    </message>
    <message>
        <source>about %1</source>
        <translation>etwa %1</translation>
    </message>
    <message>
        <source>%1 to encode</source>
        <translation>%1 zum Kodieren</translation>
    </message>
    <message>
        <source>Ctrl+Enter sends after the reply</source>
        <translation>Strg+Eingabe sendet nach der Antwort</translation>
    </message>
    <message>
        <source>Saved: type /%1 to use it again.</source>
        <translation>Gesichert: mit /%1 wieder verwenden.</translation>
    </message>
    <message>
        <source>Attach a picture or a sound</source>
        <translation>Bild oder Ton anhängen</translation>
    </message>
    <message>
        <source>Editing: the message and what follows it are kept as an earlier version</source>
        <translation>Bearbeiten: die Nachricht und was auf sie folgt bleiben als frühere Fassung</translation>
    </message>
    <message>
        <source>Record from the microphone</source>
        <translation>Vom Mikrofon aufnehmen</translation>
    </message>
    <message>
        <source>recording %1</source>
        <translation>Aufnahme %1</translation>
    </message>
    <message>
        <source>This model has no audio tower and cannot hear sounds.</source>
        <translation>Dieses Modell hat keinen Audioturm und kann keine Töne hören.</translation>
    </message>
    <message>
        <source>The model is being loaded; write meanwhile</source>
        <translation>Das Modell wird geladen; schreiben Sie ruhig schon</translation>
    </message>
    <message>
        <source>%1 answers</source>
        <translation>%1 antwortet</translation>
    </message>
    <message>
        <source>1 picture</source>
        <translation>1 Bild</translation>
    </message>
    <message>
        <source>%1 pictures</source>
        <translation>%1 Bilder</translation>
    </message>
    <message>
        <source>1 sound</source>
        <translation>1 Ton</translation>
    </message>
    <message>
        <source>%1 sounds</source>
        <translation>%1 Töne</translation>
    </message>
    <message>
        <source>%1 and %2</source>
        <translation>%1 und %2</translation>
    </message>
    <message>
        <source>Remove all</source>
        <translation>Alle entfernen</translation>
    </message>
    <message>
        <source>Remove all attachments</source>
        <translation>Alle Anhänge entfernen</translation>
    </message>
    <message>
        <source>The model is loaded for text only and cannot hear sounds.</source>
        <translation>Das Modell ist nur für Text geladen und hört keine Klänge.</translation>
    </message>
    <message>
        <source>%1 was not added: the model is loaded for text only.</source>
        <translation>%1 wurde nicht hinzugefügt: Das Modell ist nur für Text geladen.</translation>
    </message>
    <message>
        <source>This model cannot be loaded: its weights are missing</source>
        <translation>Dieses Modell kann nicht geladen werden: Seine Gewichte fehlen</translation>
    </message>
    <message>
        <source>Editing a reply: what follows it stays</source>
        <translation>Eine Antwort wird bearbeitet: was folgt, bleibt</translation>
    </message>
    <message>
        <source>Save</source>
        <translation>Speichern</translation>
    </message>
    <message>
        <source>Enter saves · Shift+Enter starts a new line</source>
        <translation>Eingabe speichert · Umschalt+Eingabe beginnt eine neue Zeile</translation>
    </message>
</context>
<context>
    <name>ui::ComputerDialog</name>
    <message>
        <source>This computer</source>
        <translation>Dieser Rechner</translation>
    </message>
    <message>
        <source>What Belfry finds here, what of it is used, and why not the rest. Nothing of your models and chats is in it.</source>
        <translation>Was Belfry hier findet, was davon benutzt wird und warum der Rest nicht. Von Modellen und Chats steht nichts darin.</translation>
    </message>
    <message>
        <source>Looking…</source>
        <translation>Wird nachgesehen…</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>Schließen</translation>
    </message>
    <message>
        <source>Copy as text</source>
        <translation>Als Text kopieren</translation>
    </message>
    <message>
        <source>Refresh</source>
        <translation>Aktualisieren</translation>
    </message>
</context>
<context>
    <name>ui::ContextGauge</name>
    <message>
        <source>context: no model</source>
        <translation>Kontext: kein Modell</translation>
    </message>
    <message>
        <source>No model is loaded, so there is no context</source>
        <translation>Es ist kein Modell geladen, also gibt es keinen Kontext</translation>
    </message>
    <message>
        <source>context ≈ %1 of %2</source>
        <translation>Kontext ≈ %1 von %2</translation>
    </message>
    <message>
        <source>context %1 of %2</source>
        <translation>Kontext %1 von %2</translation>
    </message>
    <message>
        <source>%1 of %2 tokens of the context are used; the next message adds about %3.</source>
        <translation>%1 von %2 Token des Kontexts sind belegt; die nächste Nachricht fügt etwa %3 hinzu.</translation>
    </message>
    <message>
        <source>That is too much: press to choose what to leave out.</source>
        <translation>Das ist zu viel: drücken, um zu wählen, was wegbleibt.</translation>
    </message>
    <message>
        <source>Context: %1</source>
        <translation>Kontext: %1</translation>
    </message>
    <message>
        <source>Leave out the oldest turns</source>
        <translation>Älteste Beiträge weglassen</translation>
    </message>
    <message>
        <source>Use all turns again</source>
        <translation>Wieder alle Beiträge verwenden</translation>
    </message>
    <message>
        <source>Make the context larger…</source>
        <translation>Kontext vergrößern …</translation>
    </message>
</context>
<context>
    <name>ui::CoverageDialog</name>
    <message>
        <source>Coverage of %1</source>
        <translation>Abdeckung von %1</translation>
    </message>
    <message>
        <source>%1 of %2 tensors have a place in %3</source>
        <translation>%1 von %2 Tensoren haben einen Platz in %3</translation>
    </message>
    <message>
        <source>Language %1 · vision %2 · audio %3 · other %4
Rank %5 · alpha %6 · scaling %7 · %8</source>
        <translation>Sprache %1 · Bild %2 · Audio %3 · übrige %4
Rang %5 · Alpha %6 · Skalierung %7 · %8</translation>
    </message>
    <message>
        <source>Keys and modules of the adapter</source>
        <translation>Schlüssel und Module des Adapters</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>Schließen</translation>
    </message>
    <message>
        <source>Copy report</source>
        <translation>Bericht kopieren</translation>
    </message>
    <message>
        <source>%1 %</source>
        <translation>%1 %</translation>
    </message>
    <message>
        <source>Check the &amp;effect</source>
        <translation>&amp;Wirkung prüfen</translation>
    </message>
    <message numerus="yes">
        <source>%1: rank %2, alpha %3, scaling %4, %n modules</source>
        <translation>
            <numerusform>%1: Rang %2, Alpha %3, Skalierung %4, %n Modul</numerusform>
            <numerusform>%1: Rang %2, Alpha %3, Skalierung %4, %n Module</numerusform>
        </translation>
    </message>
    <message>
        <source>%1 tensors act, %2 have no effect in this architecture, %3 are left out</source>
        <translation>%1 Tensoren wirken, %2 haben in dieser Architektur keine Wirkung, %3 bleiben weg</translation>
    </message>
    <message>
        <source>Runs fixed tokens, a fixed picture and a fixed sound with and without the adapter</source>
        <translation>Rechnet feste Token, ein festes Bild und einen festen Ton mit und ohne Adapter</translation>
    </message>
    <message>
        <source>The effect was not measured. %1</source>
        <translation>Die Wirkung wurde nicht gemessen. %1</translation>
    </message>
    <message>
        <source>Measuring …</source>
        <translation>Wird gemessen …</translation>
    </message>
    <message>
        <source>Does the model answer differently with it? Not measured yet.</source>
        <translation>Antwortet das Modell damit anders? Noch nicht gemessen.</translation>
    </message>
    <message>
        <source>Does the model answer differently with it? Can be measured once the model is loaded.</source>
        <translation>Antwortet das Modell damit anders? Messbar, sobald das Modell geladen ist.</translation>
    </message>
    <message>
        <source>No effect: base and adapter give the same values, bit by bit.</source>
        <translation>Keine Wirkung: Basis und Adapter liefern Bit für Bit dieselben Werte.</translation>
    </message>
    <message>
        <source>%1 by up to %2</source>
        <translation>%1 um bis zu %2</translation>
    </message>
    <message>
        <source>%1 not at all</source>
        <translation>%1 gar nicht</translation>
    </message>
    <message>
        <source>the logits</source>
        <translation>die Logits</translation>
    </message>
    <message>
        <source>what is seen in a picture</source>
        <translation>das Gesehene in einem Bild</translation>
    </message>
    <message>
        <source>what is heard in a sound</source>
        <translation>das Gehörte in einem Ton</translation>
    </message>
    <message>
        <source>It acts. It changes %1.</source>
        <translation>Er wirkt. Er ändert %1.</translation>
    </message>
</context>
<context>
    <name>ui::CoverageModel</name>
    <message>
        <source>no place in this model: %1</source>
        <translation>kein Platz in diesem Modell: %1</translation>
    </message>
    <message>
        <source>named by the adapter, but not in its file</source>
        <translation>vom Adapter genannt, aber nicht in seiner Datei</translation>
    </message>
    <message>
        <source>covered</source>
        <translation>abgedeckt</translation>
    </message>
    <message>
        <source>Key or module</source>
        <translation>Schlüssel oder Modul</translation>
    </message>
    <message>
        <source>Finding</source>
        <translation>Befund</translation>
    </message>
    <message>
        <source>covered, changes nothing</source>
        <translation>abgedeckt, ändert nichts</translation>
    </message>
    <message>
        <source>Frobenius norm of what is added to the weights at strength 1</source>
        <translation>Frobenius-Norm dessen, was bei Stärke 1 zu den Gewichten kommt</translation>
    </message>
    <message>
        <source>Change</source>
        <translation>Änderung</translation>
    </message>
    <message>
        <source>left out: %1</source>
        <translation>weggelassen: %1</translation>
    </message>
    <message>
        <source>no effect: %1</source>
        <translation>ohne Wirkung: %1</translation>
    </message>
</context>
<context>
    <name>ui::DiagnosticsDialog</name>
    <message>
        <source>Log and report</source>
        <translation>Protokoll und Bericht</translation>
    </message>
    <message>
        <source>For a bug report: versions, devices, plan, measured memory and the log. Prompts, replies and attachments are never part of it.</source>
        <translation>Für einen Fehlerbericht: Versionen, Geräte, Plan, gemessener Speicher und Protokoll. Fragen, Antworten und Anhänge sind nie dabei.</translation>
    </message>
    <message>
        <source>Report</source>
        <translation>Bericht</translation>
    </message>
    <message>
        <source>Log</source>
        <translation>Protokoll</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>Schließen</translation>
    </message>
    <message>
        <source>Copy report</source>
        <translation>Bericht kopieren</translation>
    </message>
</context>
<context>
    <name>ui::DownloadsPanel</name>
    <message>
        <source>Downloads</source>
        <translation>Downloads</translation>
    </message>
    <message>
        <source>Clear &amp;finished</source>
        <translation>&amp;Fertige entfernen</translation>
    </message>
    <message>
        <source>Cancel a download</source>
        <translation>Download abbrechen</translation>
    </message>
    <message>
        <source>Cancel the download of %1?</source>
        <translation>Den Download von %1 abbrechen?</translation>
    </message>
    <message>
        <source>%1 have arrived. Kept, they are used when you get the model later.</source>
        <translation>%1 sind angekommen. Bleiben sie, werden sie benutzt, wenn Sie das Modell später holen.</translation>
    </message>
    <message>
        <source>&amp;Cancel, keep the parts</source>
        <translation>&amp;Abbrechen, Teile behalten</translation>
    </message>
    <message>
        <source>Cancel and &amp;delete them</source>
        <translation>Abbrechen und &amp;löschen</translation>
    </message>
    <message>
        <source>&amp;Go on</source>
        <translation>&amp;Weiter</translation>
    </message>
    <message>
        <source>Download of %1</source>
        <translation>Download von %1</translation>
    </message>
    <message>
        <source>Pause</source>
        <translation>Pause</translation>
    </message>
    <message>
        <source>Go on</source>
        <translation>Weiter</translation>
    </message>
    <message>
        <source>%1: %2</source>
        <translation>%1: %2</translation>
    </message>
    <message>
        <source>Take it off the list</source>
        <translation>Aus der Liste nehmen</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>Abbrechen</translation>
    </message>
    <message>
        <source>Sign in…</source>
        <translation>Anmelden…</translation>
    </message>
    <message>
        <source>Add to the model</source>
        <translation>Zum Modell hinzufügen</translation>
    </message>
    <message>
        <source>Load</source>
        <translation>Laden</translation>
    </message>
</context>
<context>
    <name>ui::ErrorCause</name>
    <message>
        <source>Line %1, column %2: %3</source>
        <translation>Zeile %1, Spalte %2: %3</translation>
    </message>
    <message>
        <source>(and %1 more)</source>
        <translation>(und %1 weitere)</translation>
    </message>
</context>
<context>
    <name>ui::FindBar</name>
    <message>
        <source>Find in the chat</source>
        <translation>Im Chat suchen</translation>
    </message>
    <message>
        <source>Find in this chat</source>
        <translation>In diesem Chat suchen</translation>
    </message>
    <message>
        <source>Previous hit</source>
        <translation>Voriger Treffer</translation>
    </message>
    <message>
        <source>Next hit</source>
        <translation>Nächster Treffer</translation>
    </message>
    <message>
        <source>End the search</source>
        <translation>Suche beenden</translation>
    </message>
    <message>
        <source>End the search (Esc)</source>
        <translation>Suche beenden (Esc)</translation>
    </message>
    <message>
        <source>%1 of %2</source>
        <comment>number of the hit, of all</comment>
        <translation>%1 von %2</translation>
    </message>
    <message>
        <source>not found</source>
        <translation>nicht gefunden</translation>
    </message>
</context>
<context>
    <name>ui::FolderProblem</name>
    <message>
        <source>It was trained for a model of another size. Choose the model that it was trained for, or another adapter.</source>
        <translation>Er wurde für ein Modell anderer Größe trainiert. Wählen Sie das Modell, für das er trainiert wurde, oder einen anderen Adapter.</translation>
    </message>
    <message>
        <source>The weights are not here: layouts can be tried, loading cannot. Put the .safetensors files into this folder to load it.</source>
        <translation>Die Gewichte sind nicht da: Platzierungen lassen sich ausprobieren, laden lässt es sich nicht. Legen Sie die .safetensors-Dateien in diesen Ordner, um es zu laden.</translation>
    </message>
    <message>
        <source>%1 (in %2)</source>
        <translation>%1 (in %2)</translation>
    </message>
</context>
<context>
    <name>ui::GetModel</name>
    <message>
        <source>private</source>
        <translation>privat</translation>
    </message>
    <message>
        <source>licence to accept</source>
        <translation>Lizenz anzunehmen</translation>
    </message>
    <message>
        <source>Gemma 4, as Google publishes it</source>
        <translation>Gemma 4, wie Google es veröffentlicht</translation>
    </message>
    <message>
        <source>Found at %1</source>
        <translation>Gefunden bei %1</translation>
    </message>
</context>
<context>
    <name>ui::GetPage</name>
    <message>
        <source>&amp;Token…</source>
        <translation>&amp;Token…</translation>
    </message>
    <message>
        <source>For models whose licence has to be accepted, and private ones</source>
        <translation>Für Modelle, deren Lizenz anzunehmen ist, und für private</translation>
    </message>
    <message>
        <source>Models to get</source>
        <translation>Modelle, die zu haben sind</translation>
    </message>
    <message>
        <source>Show &amp;more</source>
        <translation>&amp;Mehr zeigen</translation>
    </message>
    <message>
        <source>Search, or paste an address or owner/name</source>
        <translation>Suchen, oder eine Adresse oder Besitzer/Name einfügen</translation>
    </message>
    <message>
        <source>Search the hub, or an address</source>
        <translation>Im Hub suchen, oder eine Adresse</translation>
    </message>
    <message>
        <source>What is searched for</source>
        <translation>Was gesucht wird</translation>
    </message>
    <message>
        <source>Models (safetensors)</source>
        <translation>Modelle (safetensors)</translation>
    </message>
    <message>
        <source>Adapters (PEFT)</source>
        <translation>Adapter (PEFT)</translation>
    </message>
    <message>
        <source>GGUF files</source>
        <translation>GGUF-Dateien</translation>
    </message>
    <message>
        <source>This build of Belfry has no network part.</source>
        <translation>Dieses Belfry ist ohne Netzwerkteil gebaut.</translation>
    </message>
    <message>
        <source>HF_HUB_OFFLINE forbids the network to this program.</source>
        <translation>HF_HUB_OFFLINE verbietet diesem Programm das Netz.</translation>
    </message>
    <message>
        <source>The settings forbid the network.</source>
        <translation>Die Einstellungen verbieten das Netz.</translation>
    </message>
    <message>
        <source>S&amp;top</source>
        <translation>S&amp;topp</translation>
    </message>
    <message>
        <source>L&amp;ook up</source>
        <translation>&amp;Nachsehen</translation>
    </message>
    <message>
        <source>Searc&amp;h</source>
        <translation>Suc&amp;hen</translation>
    </message>
    <message>
        <source>%1 (a mirror, set in the settings or by HF_ENDPOINT)</source>
        <translation>%1 (ein Spiegel, aus den Einstellungen oder HF_ENDPOINT)</translation>
    </message>
    <message>
        <source>Nothing is asked of the network before you click. Asked is: %1</source>
        <translation>Vor Ihrem Klick wird nichts im Netz gefragt. Gefragt wird: %1</translation>
    </message>
    <message>
        <source>The network is not used.</source>
        <translation>Das Netz wird nicht benutzt.</translation>
    </message>
    <message>
        <source>Searching…</source>
        <translation>Sucht…</translation>
    </message>
    <message>
        <source>Nothing was found for “%1”.</source>
        <translation>Nichts gefunden für „%1“.</translation>
    </message>
    <message>
        <source>Adapters for %1</source>
        <translation>Adapter für %1</translation>
    </message>
</context>
<context>
    <name>ui::HistoryDelegate</name>
    <message>
        <source>New title of the chat</source>
        <translation>Neuer Titel des Chats</translation>
    </message>
</context>
<context>
    <name>ui::HistoryModel</name>
    <message>
        <source>Today</source>
        <translation>Heute</translation>
    </message>
    <message>
        <source>Yesterday</source>
        <translation>Gestern</translation>
    </message>
    <message>
        <source>Last seven days</source>
        <translation>Letzte sieben Tage</translation>
    </message>
    <message>
        <source>%1 %2</source>
        <comment>month, year</comment>
        <translation>%1 %2</translation>
    </message>
    <message>
        <source>New chat</source>
        <translation>Neuer Chat</translation>
    </message>
    <message numerus="yes">
        <source>%n messages</source>
        <translation>
            <numerusform>%n Nachricht</numerusform>
            <numerusform>%n Nachrichten</numerusform>
        </translation>
    </message>
    <message>
        <source>%1, %2</source>
        <translation>%1, %2</translation>
    </message>
    <message>
        <source>%1, %2: %3</source>
        <translation>%1, %2: %3</translation>
    </message>
    <message>
        <source>Pinned</source>
        <translation>Angeheftet</translation>
    </message>
    <message>
        <source>%1, %2, pinned</source>
        <translation>%1, %2, angeheftet</translation>
    </message>
</context>
<context>
    <name>ui::HistoryPane</name>
    <message>
        <source>New chat</source>
        <translation>Neuer Chat</translation>
    </message>
    <message>
        <source>Chats</source>
        <translation>Chats</translation>
    </message>
    <message>
        <source>Search chats</source>
        <translation>Chats durchsuchen</translation>
    </message>
    <message>
        <source>Chats, latest first</source>
        <translation>Chats, neueste zuerst</translation>
    </message>
    <message>
        <source>Undo</source>
        <translation>Rückgängig</translation>
    </message>
    <message>
        <source>Chats are not being saved</source>
        <translation>Chats werden nicht gesichert</translation>
    </message>
    <message>
        <source>Try again</source>
        <translation>Noch einmal</translation>
    </message>
    <message>
        <source>No chat contains “%1”.</source>
        <translation>Kein Chat enthält „%1“.</translation>
    </message>
    <message>
        <source>Your chats appear here. Each one is saved on this computer after every message.</source>
        <translation>Hier erscheinen Ihre Chats. Jeder wird nach jeder Nachricht auf diesem Rechner gesichert.</translation>
    </message>
    <message>
        <source>Deleted: %1</source>
        <translation>Gelöscht: %1</translation>
    </message>
    <message>
        <source>Open</source>
        <translation>Öffnen</translation>
    </message>
    <message>
        <source>Rename</source>
        <translation>Umbenennen</translation>
    </message>
    <message>
        <source>Export as Markdown…</source>
        <translation>Als Markdown exportieren …</translation>
    </message>
    <message>
        <source>Export as JSON…</source>
        <translation>Als JSON exportieren …</translation>
    </message>
    <message>
        <source>Delete</source>
        <translation>Löschen</translation>
    </message>
    <message>
        <source>Export chat</source>
        <translation>Chat exportieren</translation>
    </message>
    <message>
        <source>Markdown (*.md)</source>
        <translation>Markdown (*.md)</translation>
    </message>
    <message>
        <source>JSON (*.json)</source>
        <translation>JSON (*.json)</translation>
    </message>
    <message>
        <source>More about chats</source>
        <translation>Mehr zu Chats</translation>
    </message>
    <message>
        <source>Import a chat (JSON)…</source>
        <translation>Chat importieren (JSON)…</translation>
    </message>
    <message>
        <source>Import a chat</source>
        <translation>Chat importieren</translation>
    </message>
    <message>
        <source>Chats exported by Belfry (*.json)</source>
        <translation>Von Belfry exportierte Chats (*.json)</translation>
    </message>
    <message>
        <source>Finds chats in which every word occurs</source>
        <translation>Findet Chats, in denen jedes Wort vorkommt</translation>
    </message>
    <message>
        <source>Brings the chat back (%1)</source>
        <translation>Holt den Chat zurück (%1)</translation>
    </message>
    <message>
        <source>Unpin</source>
        <translation>Nicht mehr anheften</translation>
    </message>
    <message>
        <source>Pin to the top</source>
        <translation>Oben anheften</translation>
    </message>
    <message>
        <source>Duplicate</source>
        <translation>Duplizieren</translation>
    </message>
    <message>
        <source>%1 (copy)</source>
        <comment>title of a chat</comment>
        <translation>%1 (Kopie)</translation>
    </message>
</context>
<context>
    <name>ui::Hub</name>
    <message>
        <source>%1 parameters · %2 · %3 · Apache 2.0</source>
        <translation>%1 Parameter · %2 · %3 · Apache 2.0</translation>
    </message>
    <message>
        <source>text, pictures, sounds</source>
        <translation>Text, Bilder, Klänge</translation>
    </message>
    <message>
        <source>text, pictures</source>
        <translation>Text, Bilder</translation>
    </message>
    <message>
        <source>adapter</source>
        <translation>Adapter</translation>
    </message>
    <message>
        <source>adapter for %1</source>
        <translation>Adapter für %1</translation>
    </message>
    <message>
        <source>%1 parameters</source>
        <translation>%1 Parameter</translation>
    </message>
    <message>
        <source>%1 downloads a month</source>
        <translation>%1 Downloads im Monat</translation>
    </message>
    <message>
        <source>does not fit</source>
        <translation>passt nicht</translation>
    </message>
    <message>
        <source>fits in 4 bits</source>
        <translation>passt in 4 Bit</translation>
    </message>
    <message>
        <source>fits</source>
        <translation>passt</translation>
    </message>
    <message>
        <source>Does not fit, also not in 4 bits: it would take %1 of memory.</source>
        <translation>Passt nicht, auch nicht in 4 Bit: Es bräuchte %1 Speicher.</translation>
    </message>
    <message>
        <source>%1 of memory, about %2 tokens/s (estimated)</source>
        <translation>%1 Speicher, etwa %2 Token/s (geschätzt)</translation>
    </message>
    <message>
        <source>Fits in 4 bits: %1.</source>
        <translation>Passt in 4 Bit: %1.</translation>
    </message>
    <message>
        <source>Fits as it is published: %1.</source>
        <translation>Passt, wie es veröffentlicht ist: %1.</translation>
    </message>
    <message numerus="yes">
        <source>All of its %n files are here already.</source>
        <translation>
            <numerusform>Seine %n Datei ist schon hier.</numerusform>
            <numerusform>Alle seine %n Dateien sind schon hier.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%1 to fetch in %n files.</source>
        <translation>
            <numerusform>%1 zu holen, in %n Datei.</numerusform>
            <numerusform>%1 zu holen, in %n Dateien.</numerusform>
        </translation>
    </message>
    <message>
        <source>%1 of it are here already.</source>
        <translation>%1 davon sind schon hier.</translation>
    </message>
    <message numerus="yes">
        <source>%n files that Belfry does not load are left out (%1).</source>
        <translation>
            <numerusform>%n Datei, die Belfry nicht lädt, bleibt weg (%1).</numerusform>
            <numerusform>%n Dateien, die Belfry nicht lädt, bleiben weg (%1).</numerusform>
        </translation>
    </message>
    <message>
        <source>%1 are free on that disk.</source>
        <translation>%1 sind auf diesem Datenträger frei.</translation>
    </message>
    <message>
        <source>%1 of %2</source>
        <translation>%1 von %2</translation>
    </message>
    <message>
        <source>%1 · waits for another to be done</source>
        <translation>%1 · wartet auf einen anderen</translation>
    </message>
    <message>
        <source>%1 · paused</source>
        <translation>%1 · angehalten</translation>
    </message>
    <message>
        <source>%1 · whole and checked</source>
        <translation>%1 · ganz und geprüft</translation>
    </message>
    <message>
        <source>ended early</source>
        <translation>vorzeitig beendet</translation>
    </message>
    <message>
        <source>%1 · trying again: %2</source>
        <translation>%1 · neuer Versuch: %2</translation>
    </message>
    <message>
        <source>%1/s</source>
        <translation>%1/s</translation>
    </message>
    <message>
        <source>%1 left</source>
        <translation>noch %1</translation>
    </message>
    <message>
        <source>%1 of memory</source>
        <translation>%1 Speicher</translation>
    </message>
</context>
<context>
    <name>ui::Issue</name>
    <message>
        <source>KV cache of %1 tokens</source>
        <translation>KV-Cache für %1 Token</translation>
    </message>
    <message>
        <source>adapters</source>
        <translation>Adapter</translation>
    </message>
    <message>
        <source>audio tower</source>
        <translation>Audioturm</translation>
    </message>
    <message>
        <source>context of the driver</source>
        <translation>Kontext des Treibers</translation>
    </message>
    <message>
        <source>head</source>
        <translation>Kopf</translation>
    </message>
    <message>
        <source>layers %1–%2</source>
        <translation>Schichten %1–%2</translation>
    </message>
    <message>
        <source>per-layer embeddings</source>
        <translation>Einbettungen je Schicht</translation>
    </message>
    <message>
        <source>room for visiting weights</source>
        <translation>Platz für gestreamte Gewichte</translation>
    </message>
    <message>
        <source>token embedding</source>
        <translation>Token-Einbettung</translation>
    </message>
    <message>
        <source>vision tower</source>
        <translation>Bildturm</translation>
    </message>
    <message>
        <source>copies of experts</source>
        <translation>Kopien von Experten</translation>
    </message>
    <message>
        <source>workspace</source>
        <translation>Arbeitsbereich</translation>
    </message>
    <message>
        <source>What is free is an estimate. Loading anyway may work; it may also make the computer slow, or the system may end a program. A load that fails leaves what was there.</source>
        <translation>Was frei ist, ist eine Schätzung. Trotzdem zu laden kann gelingen; der Rechner kann auch langsam werden, oder das System beendet ein Programm. Ein Laden, das scheitert, lässt stehen, was da war.</translation>
    </message>
    <message>
        <source>layer %1</source>
        <translation>Schicht %1</translation>
    </message>
    <message>
        <source>experts of layer %1</source>
        <translation>Experten der Schicht %1</translation>
    </message>
    <message>
        <source>experts of layers %1–%2</source>
        <translation>Experten der Schichten %1–%2</translation>
    </message>
</context>
<context>
    <name>ui::LaneWidget</name>
    <message>
        <source>streamed or gathered</source>
        <translation>gestreamt oder einzeln gelesen</translation>
    </message>
    <message>
        <source>%1 of %2</source>
        <translation>%1 von %2</translation>
    </message>
    <message>
        <source>%1, %2</source>
        <translation>%1, %2</translation>
    </message>
    <message>
        <source>%1 too much</source>
        <translation>%1 zu viel</translation>
    </message>
    <message>
        <source>read when needed</source>
        <translation>bei Bedarf gelesen</translation>
    </message>
    <message>
        <source>%1 left</source>
        <translation>%1 übrig</translation>
    </message>
    <message>
        <source>Nothing here.
Parts on disk are read when they are needed.</source>
        <translation>Nichts hier.
Teile auf dem Datenträger werden gelesen, wenn sie gebraucht werden.</translation>
    </message>
    <message>
        <source>Nothing here.
Drag a block here, or focus one and press M.</source>
        <translation>Nichts hier.
Ziehen Sie einen Block hierher, oder wählen Sie einen und drücken M.</translation>
    </message>
</context>
<context>
    <name>ui::LaunchDialog</name>
    <message>
        <source>Server program</source>
        <translation>Serverprogramm</translation>
    </message>
    <message>
        <source>What to copy</source>
        <translation>Was kopiert wird</translation>
    </message>
    <message>
        <source>Cards of the server</source>
        <translation>Karten des Servers</translation>
    </message>
    <message>
        <source>Memory of each card</source>
        <translation>Speicher jeder Karte</translation>
    </message>
    <message>
        <source>Copy the &amp;merge command</source>
        <translation>Befehl zum &amp;Verschmelzen kopieren</translation>
    </message>
    <message>
        <source>Run it on a server</source>
        <translation>Auf einem Server ausführen</translation>
    </message>
    <message>
        <source>Command</source>
        <translation>Befehl</translation>
    </message>
    <message>
        <source>1 card</source>
        <translation>1 Karte</translation>
    </message>
    <message>
        <source>%1 cards</source>
        <translation>%1 Karten</translation>
    </message>
    <message>
        <source>of %1</source>
        <translation>mit %1</translation>
    </message>
    <message>
        <source>Command or compose file</source>
        <translation>Befehl oder compose-Datei</translation>
    </message>
    <message>
        <source>C&amp;opy</source>
        <translation>K&amp;opieren</translation>
    </message>
    <message>
        <source>About %1 on each card, in 16 bit: an estimate. Belfry starts nothing there: copy it, run it on the server, then connect to it.</source>
        <translation>Ungefähr %1 auf jeder Karte, in 16 Bit: eine Schätzung. Belfry startet dort nichts: kopieren, auf dem Server ausführen, dann mit ihm verbinden.</translation>
    </message>
    <message>
        <source>About %1 would be needed on each card, in 16 bit: take more cards or larger ones.</source>
        <translation>Auf jeder Karte wären ungefähr %1 nötig, in 16 Bit: Nehmen Sie mehr Karten oder größere.</translation>
    </message>
    <message>
        <source>Not as here:</source>
        <translation>Anders als hier:</translation>
    </message>
    <message>
        <source>These adapters in one model that any server takes as it is: merge them here first.</source>
        <translation>Diese Adapter in einem Modell, das jeder Server nimmt, wie es ist: zuerst hier verschmelzen.</translation>
    </message>
    <message>
        <source>Copy the &amp;stack command</source>
        <translation>Befehl zum &amp;Stapeln kopieren</translation>
    </message>
    <message>
        <source>One adapter that does what these do at their strengths, without any loss: stack them here first, then name it in the command in their place.</source>
        <translation>Ein Adapter, der ohne Verlust tut, was diese mit ihren Stärken tun: Stapeln Sie sie zuerst hier und nennen Sie ihn dann im Befehl an ihrer Stelle.</translation>
    </message>
</context>
<context>
    <name>ui::LayoutBlock</name>
    <message>
        <source>copy on %1</source>
        <translation>Kopie auf %1</translation>
    </message>
    <message>
        <source>visits %1 when used</source>
        <translation>besucht %1 bei Gebrauch</translation>
    </message>
    <message>
        <source>rows go to %1</source>
        <translation>Zeilen gehen zu %1</translation>
    </message>
    <message>
        <source>streamed to %1</source>
        <translation>nach %1 gestreamt</translation>
    </message>
    <message>
        <source>as stored</source>
        <translation>wie gespeichert</translation>
    </message>
    <message>
        <source>Layer %1</source>
        <translation>Schicht %1</translation>
    </message>
    <message>
        <source>Layers %1 – %2</source>
        <translation>Schichten %1 – %2</translation>
    </message>
    <message>
        <source>Vision tower</source>
        <translation>Bildturm</translation>
    </message>
    <message>
        <source>Vision projector</source>
        <translation>Bild-Projektor</translation>
    </message>
    <message>
        <source>Audio tower</source>
        <translation>Audioturm</translation>
    </message>
    <message>
        <source>Audio projector</source>
        <translation>Audio-Projektor</translation>
    </message>
    <message>
        <source>Per-layer embeddings</source>
        <translation>Einbettungen je Schicht</translation>
    </message>
    <message>
        <source>Head + token embedding</source>
        <translation>Kopf + Token-Einbettung</translation>
    </message>
    <message>
        <source>Token embedding</source>
        <translation>Token-Einbettung</translation>
    </message>
    <message>
        <source>Head</source>
        <translation>Kopf</translation>
    </message>
    <message>
        <source>Drafting assistant</source>
        <translation>Entwurfs-Assistent</translation>
    </message>
    <message>
        <source>Norms and projection</source>
        <translation>Normen und Projektion</translation>
    </message>
    <message>
        <source>KV cache</source>
        <translation>KV-Cache</translation>
    </message>
    <message>
        <source>from %1 on they share KV</source>
        <translation>ab %1 teilen sie KV</translation>
    </message>
    <message>
        <source>share KV of earlier layers</source>
        <translation>teilen KV früherer Schichten</translation>
    </message>
    <message>
        <source>own their KV</source>
        <translation>eigenes KV</translation>
    </message>
    <message>
        <source>1 layer</source>
        <translation>1 Schicht</translation>
    </message>
    <message>
        <source>%1 layers</source>
        <translation>%1 Schichten</translation>
    </message>
    <message>
        <source>one table for both</source>
        <translation>eine Tabelle für beides</translation>
    </message>
    <message>
        <source>%1 tokens</source>
        <translation>%1 Token</translation>
    </message>
    <message>
        <source>kept here</source>
        <translation>hier gehalten</translation>
    </message>
    <message>
        <source>follows the layers</source>
        <translation>folgt den Schichten</translation>
    </message>
    <message>
        <source>%1 read per token</source>
        <translation>%1 gelesen je Token</translation>
    </message>
    <message>
        <source>Only one row of it is read per token: on the CPU it would cost hardly any speed and leave this memory free.</source>
        <translation>Je Token wird nur eine Zeile gelesen: Auf der CPU würde sie kaum Geschwindigkeit kosten und diesen Speicher frei lassen.</translation>
    </message>
    <message>
        <source>Only one row of it is read per token: here it costs hardly any speed.</source>
        <translation>Je Token wird nur eine Zeile gelesen: Hier kostet sie kaum Geschwindigkeit.</translation>
    </message>
    <message>
        <source>%1, %2, on %3</source>
        <translation>%1, %2, auf %3</translation>
    </message>
    <message>
        <source>values of its own</source>
        <translation>eigene Werte</translation>
    </message>
    <message>
        <source>Experts of layer %1</source>
        <translation>Experten der Schicht %1</translation>
    </message>
    <message>
        <source>Experts of layers %1 – %2</source>
        <translation>Experten der Schichten %1 – %2</translation>
    </message>
    <message>
        <source>%1 of %2</source>
        <translation>%1 von %2</translation>
    </message>
    <message>
        <source>Modules in it that adapters change: %1.</source>
        <translation>Von Adaptern geänderte Module darin: %1.</translation>
    </message>
    <message>
        <source>Some tensors inside are placed elsewhere by the map.</source>
        <translation>Der Plan legt einzelne Tensoren daraus anderswohin.</translation>
    </message>
    <message>
        <source>Not applied yet.</source>
        <translation>Noch nicht angewendet.</translation>
    </message>
</context>
<context>
    <name>ui::LayoutPrice</name>
    <message>
        <source>%1 ms</source>
        <translation>%1 ms</translation>
    </message>
    <message>
        <source>%1 s</source>
        <translation>%1 s</translation>
    </message>
    <message>
        <source>Cannot be</source>
        <translation>Nicht möglich</translation>
    </message>
    <message>
        <source>each image</source>
        <translation>jedes Bild</translation>
    </message>
    <message>
        <source>10 s of sound</source>
        <translation>10 s Ton</translation>
    </message>
    <message>
        <source>each token</source>
        <translation>jedes Token</translation>
    </message>
    <message>
        <source>travels per token</source>
        <translation>reist je Token</translation>
    </message>
    <message>
        <source>adapter</source>
        <translation>Adapter</translation>
    </message>
    <message>
        <source>%1 modules move along</source>
        <translation>%1 Module ziehen mit um</translation>
    </message>
    <message>
        <source>tower</source>
        <translation>Turm</translation>
    </message>
    <message>
        <source>weights</source>
        <translation>Gewichte</translation>
    </message>
    <message>
        <source>KV cache</source>
        <translation>KV-Cache</translation>
    </message>
    <message>
        <source>copies of experts</source>
        <translation>Kopien von Experten</translation>
    </message>
    <message>
        <source>room to compute</source>
        <translation>Platz zum Rechnen</translation>
    </message>
    <message>
        <source>driver</source>
        <translation>Treiber</translation>
    </message>
</context>
<context>
    <name>ui::LayoutStaging</name>
    <message>
        <source>Options</source>
        <translation>Optionen</translation>
    </message>
    <message>
        <source>Revert</source>
        <translation>Zurücknehmen</translation>
    </message>
    <message>
        <source>Fit</source>
        <translation>Passend</translation>
    </message>
    <message>
        <source>Simulated %1</source>
        <translation>Simuliert %1</translation>
    </message>
    <message>
        <source>%1 on %2</source>
        <translation>%1 auf %2</translation>
    </message>
</context>
<context>
    <name>ui::LayoutView</name>
    <message>
        <source>Line %1, column %2: %3</source>
        <translation>Zeile %1, Spalte %2: %3</translation>
    </message>
    <message>
        <source>%1: not possible. %2</source>
        <translation>%1: nicht möglich. %2</translation>
    </message>
    <message>
        <source>No plan: %1</source>
        <translation>Kein Plan: %1</translation>
    </message>
    <message>
        <source>%1: %2</source>
        <translation>%1: %2</translation>
    </message>
    <message>
        <source>Nothing was loaded.</source>
        <translation>Es wurde nichts geladen.</translation>
    </message>
    <message>
        <source>What was loaded before is in place again; your change is still staged.</source>
        <translation>Was vorher geladen war, ist wieder an seinem Platz; Ihre Änderung ist noch vorgemerkt.</translation>
    </message>
    <message>
        <source>Stopped. %1</source>
        <translation>Angehalten. %1</translation>
    </message>
    <message>
        <source>It could not be applied: %1. %2</source>
        <translation>Es ließ sich nicht anwenden: %1. %2</translation>
    </message>
    <message>
        <source>Make it fit</source>
        <translation>Passend machen</translation>
    </message>
    <message>
        <source>Revert</source>
        <translation>Zurücknehmen</translation>
    </message>
    <message>
        <source>Split %1</source>
        <translation>%1 teilen</translation>
    </message>
    <message>
        <source>Head with a table of its own</source>
        <translation>Kopf mit eigener Tabelle</translation>
    </message>
    <message>
        <source>Split layers at %1</source>
        <translation>Schichten bei %1 teilen</translation>
    </message>
    <message>
        <source>%1 has no neighbouring layers on the same device. Move one to the other first.</source>
        <translation>%1 hat keine Nachbarschichten auf demselben Gerät. Bewegen Sie erst eine davon zur anderen.</translation>
    </message>
    <message>
        <source>Join layers</source>
        <translation>Schichten verbinden</translation>
    </message>
    <message>
        <source>Join tower and projector</source>
        <translation>Turm und Projektor verbinden</translation>
    </message>
    <message>
        <source>One table for head and embedding</source>
        <translation>Eine Tabelle für Kopf und Einbettung</translation>
    </message>
    <message>
        <source>KV cache follows the layers</source>
        <translation>KV-Cache folgt den Schichten</translation>
    </message>
    <message>
        <source>Move to</source>
        <translation>Bewegen nach</translation>
    </message>
    <message>
        <source>&amp;%1  %2</source>
        <translation>&amp;%1  %2</translation>
    </message>
    <message>
        <source>%1 → %2</source>
        <translation>%1 → %2</translation>
    </message>
    <message>
        <source>Visit when used</source>
        <translation>Bei Gebrauch holen</translation>
    </message>
    <message>
        <source>Stream from</source>
        <translation>Streamen von</translation>
    </message>
    <message>
        <source>Keep on %1, compute on %2</source>
        <translation>Auf %1 halten, auf %2 rechnen</translation>
    </message>
    <message>
        <source>Give the head a table of its own	S</source>
        <translation>Dem Kopf eine eigene Tabelle geben	S</translation>
    </message>
    <message>
        <source>Split off the projector	S</source>
        <translation>Projektor abtrennen	S</translation>
    </message>
    <message>
        <source>Split …	S</source>
        <translation>Teilen …	S</translation>
    </message>
    <message>
        <source>Follow the layers	J</source>
        <translation>Den Schichten folgen	J</translation>
    </message>
    <message>
        <source>One table with the embedding	J</source>
        <translation>Eine Tabelle mit der Einbettung	J</translation>
    </message>
    <message>
        <source>Join with neighbour	J</source>
        <translation>Mit Nachbarn verbinden	J</translation>
    </message>
    <message>
        <source>The fastest placement that fits</source>
        <translation>Die schnellste Platzierung, die passt</translation>
    </message>
    <message>
        <source>Everything on the first GPU</source>
        <translation>Alles auf der ersten GPU</translation>
    </message>
    <message>
        <source>Vision and audio tower on the CPU, the rest on the GPU</source>
        <translation>Bild- und Audioturm auf der CPU, der Rest auf der GPU</translation>
    </message>
    <message>
        <source>The per-layer embedding table on the CPU</source>
        <translation>Die Einbettungstabelle je Schicht auf der CPU</translation>
    </message>
    <message>
        <source>Towers and per-layer embeddings on the CPU</source>
        <translation>Türme und Einbettungen je Schicht auf der CPU</translation>
    </message>
    <message>
        <source>Everything on the CPU</source>
        <translation>Alles auf der CPU</translation>
    </message>
    <message>
        <source>This computer</source>
        <translation>Dieser Rechner</translation>
    </message>
    <message>
        <source>Simulate it on this computer</source>
        <translation>Auf diesem Rechner simulieren</translation>
    </message>
    <message>
        <source>A computer of my own …</source>
        <translation>Ein eigener Rechner …</translation>
    </message>
    <message>
        <source>A model that is not here</source>
        <translation>Ein Modell, das nicht hier ist</translation>
    </message>
    <message>
        <source>Open a map …</source>
        <translation>Plan öffnen …</translation>
    </message>
    <message>
        <source>Save the map as</source>
        <translation>Plan sichern als</translation>
    </message>
    <message>
        <source>Belfry map …</source>
        <translation>Belfry-Plan …</translation>
    </message>
    <message>
        <source>accelerate device_map …</source>
        <translation>accelerate device_map …</translation>
    </message>
    <message>
        <source>Copy as</source>
        <translation>Kopieren als</translation>
    </message>
    <message>
        <source>Belfry map</source>
        <translation>Belfry-Plan</translation>
    </message>
    <message>
        <source>accelerate device_map</source>
        <translation>accelerate device_map</translation>
    </message>
    <message>
        <source>Simulated GPUs, limits, context …</source>
        <translation>Simulierte GPUs, Grenzen, Kontext …</translation>
    </message>
    <message>
        <source>Open a map</source>
        <translation>Plan öffnen</translation>
    </message>
    <message>
        <source>Device maps (*.json);;All files (*)</source>
        <translation>Gerätepläne (*.json);;Alle Dateien (*)</translation>
    </message>
    <message>
        <source>Map %1</source>
        <translation>Plan %1</translation>
    </message>
    <message>
        <source>Saved: %1</source>
        <translation>Gesichert: %1</translation>
    </message>
    <message>
        <source>Copied.</source>
        <translation>Kopiert.</translation>
    </message>
    <message>
        <source>Copied. Some things will be different there:</source>
        <translation>Kopiert. Einiges wird dort anders sein:</translation>
    </message>
    <message>
        <source>Some things will be different there:</source>
        <translation>Einiges wird dort anders sein:</translation>
    </message>
    <message>
        <source>Save the map</source>
        <translation>Plan sichern</translation>
    </message>
    <message>
        <source>Device maps (*.json)</source>
        <translation>Gerätepläne (*.json)</translation>
    </message>
    <message>
        <source>read when needed</source>
        <translation>bei Bedarf gelesen</translation>
    </message>
    <message>
        <source>drop here: %1 too much</source>
        <translation>hier ablegen: %1 zu viel</translation>
    </message>
    <message>
        <source>drop here: %1 left</source>
        <translation>hier ablegen: %1 übrig</translation>
    </message>
    <message>
        <source>drop here</source>
        <translation>hier ablegen</translation>
    </message>
    <message>
        <source>the cache has to be in memory</source>
        <translation>der Cache muss im Speicher liegen</translation>
    </message>
    <message>
        <source>price</source>
        <translation>Preis</translation>
    </message>
    <message>
        <source>being worked out …</source>
        <translation>wird berechnet …</translation>
    </message>
    <message>
        <source>Not possible</source>
        <translation>Nicht möglich</translation>
    </message>
    <message>
        <source>stays</source>
        <translation>bleibt</translation>
    </message>
    <message>
        <source>it is here already</source>
        <translation>er ist schon hier</translation>
    </message>
    <message>
        <source>%1 ms</source>
        <translation>%1 ms</translation>
    </message>
    <message>
        <source>Undo</source>
        <translation>Rückgängig</translation>
    </message>
    <message>
        <source>Redo</source>
        <translation>Wiederholen</translation>
    </message>
    <message>
        <source>Presets ▾</source>
        <translation>Vorgaben ▾</translation>
    </message>
    <message>
        <source>Presets</source>
        <translation>Vorgaben</translation>
    </message>
    <message>
        <source>What if: this computer ▾</source>
        <translation>Was wäre wenn: dieser Rechner ▾</translation>
    </message>
    <message>
        <source>What if: plan for another computer</source>
        <translation>Was wäre wenn: für einen anderen Rechner planen</translation>
    </message>
    <message>
        <source>More</source>
        <translation>Mehr</translation>
    </message>
    <message>
        <source>Map files and options</source>
        <translation>Plandateien und Optionen</translation>
    </message>
    <message>
        <source>Choose a model to see its parts here.

Every part becomes a block with its bytes. Drag blocks between graphics card, processor and disk; while you hold one, every lane tells what it would hold and what the move costs.</source>
        <translation>Wählen Sie ein Modell, um seine Teile hier zu sehen.

Jeder Teil wird zu einem Block mit seinen Bytes. Ziehen Sie Blöcke zwischen Grafikkarte, Prozessor und Datenträger; solange Sie einen halten, zeigt jede Spur, was sie enthielte und was der Umzug kostet.</translation>
    </message>
    <message>
        <source>Back to what is loaded</source>
        <translation>Zurück zu dem, was geladen ist</translation>
    </message>
    <message>
        <source>Nothing to undo</source>
        <translation>Nichts rückgängig zu machen</translation>
    </message>
    <message>
        <source>Nothing to redo</source>
        <translation>Nichts zu wiederholen</translation>
    </message>
    <message>
        <source>What if: %1 ▾</source>
        <translation>Was wäre wenn: %1 ▾</translation>
    </message>
    <message>
        <source>Back to this computer</source>
        <translation>Zurück zu diesem Rechner</translation>
    </message>
    <message>
        <source>Applying…</source>
        <translation>Wird angewendet …</translation>
    </message>
    <message>
        <source>Load with this layout</source>
        <translation>Mit dieser Platzierung laden</translation>
    </message>
    <message>
        <source>Load again with this</source>
        <translation>Damit neu laden</translation>
    </message>
    <message>
        <source>Apply</source>
        <translation>Anwenden</translation>
    </message>
    <message>
        <source>Apply 1 change</source>
        <translation>1 Änderung anwenden</translation>
    </message>
    <message>
        <source>Apply %1 changes</source>
        <translation>%1 Änderungen anwenden</translation>
    </message>
    <message>
        <source>✓ Fits</source>
        <translation>✓ Passt</translation>
    </message>
    <message>
        <source>✗ Does not fit</source>
        <translation>✗ Passt nicht</translation>
    </message>
    <message>
        <source>%1 &lt;b&gt;%2&lt;/b&gt; of %3</source>
        <translation>%1 &lt;b&gt;%2&lt;/b&gt; von %3</translation>
    </message>
    <message>
        <source>about&amp;nbsp;&lt;b&gt;%1&lt;/b&gt;&amp;nbsp;tokens/s</source>
        <translation>etwa&amp;nbsp;&lt;b&gt;%1&lt;/b&gt;&amp;nbsp;Token/s</translation>
    </message>
    <message>
        <source>image&amp;nbsp;&lt;b&gt;%1&lt;/b&gt;</source>
        <translation>Bild&amp;nbsp;&lt;b&gt;%1&lt;/b&gt;</translation>
    </message>
    <message>
        <source>10&amp;nbsp;s&amp;nbsp;of&amp;nbsp;sound&amp;nbsp;&lt;b&gt;%1&lt;/b&gt;</source>
        <translation>10&amp;nbsp;s&amp;nbsp;Ton&amp;nbsp;&lt;b&gt;%1&lt;/b&gt;</translation>
    </message>
    <message>
        <source>plan only: the weights are not in the folder</source>
        <translation>nur planen: Die Gewichte sind nicht im Ordner</translation>
    </message>
    <message>
        <source>%1 would need %2 and has %3: %4 too much.</source>
        <translation>%1 bräuchte %2 und hat %3: %4 zu viel.</translation>
    </message>
    <message>
        <source>Try: %1.</source>
        <translation>Versuchen Sie: %1.</translation>
    </message>
    <message>
        <source>Add a simulated GPU …</source>
        <translation>Simulierte GPU hinzufügen …</translation>
    </message>
    <message>
        <source>Add a simulated GPU</source>
        <translation>Simulierte GPU hinzufügen</translation>
    </message>
    <message>
        <source>Make it true</source>
        <translation>Wirklich so machen</translation>
    </message>
    <message>
        <source>Undo: %1</source>
        <translation>Rückgängig: %1</translation>
    </message>
    <message>
        <source>Redo: %1</source>
        <translation>Wiederholen: %1</translation>
    </message>
    <message>
        <source>The adapter does not fit this model; this plan is without it.</source>
        <translation>Der Adapter passt nicht zu diesem Modell; dieser Plan ist ohne ihn.</translation>
    </message>
    <message>
        <source>A simulated card has a hard memory limit and computes on the processor: try a split before you own the card.</source>
        <translation>Eine simulierte Karte hat eine harte Speichergrenze und rechnet auf dem Prozessor: so lässt sich eine Aufteilung ausprobieren, bevor eine echte da ist.</translation>
    </message>
    <message>
        <source>No graphics card takes part.</source>
        <translation>Es ist keine Grafikkarte beteiligt.</translation>
    </message>
    <message>
        <source>Replan everything</source>
        <translation>Alles neu planen</translation>
    </message>
    <message>
        <source>Move %1</source>
        <translation>%1 verschieben</translation>
    </message>
    <message>
        <source>← →</source>
        <translation>← →</translation>
    </message>
    <message>
        <source>where to</source>
        <translation>wohin</translation>
    </message>
    <message>
        <source>Enter</source>
        <translation>Eingabe</translation>
    </message>
    <message>
        <source>lets it go there</source>
        <translation>legt es dort ab</translation>
    </message>
    <message>
        <source>Esc</source>
        <translation>Esc</translation>
    </message>
    <message>
        <source>leaves it where it is</source>
        <translation>lässt es, wo es ist</translation>
    </message>
    <message>
        <source>a reply runs: changes follow it</source>
        <translation>eine Antwort läuft: Änderungen folgen ihr</translation>
    </message>
    <message>
        <source>loading: changes wait for its end</source>
        <translation>es wird geladen: Änderungen warten darauf</translation>
    </message>
    <message>
        <source>Applies after this reply</source>
        <translation>Folgt auf diese Antwort</translation>
    </message>
    <message>
        <source>Apply after this reply</source>
        <translation>Nach dieser Antwort anwenden</translation>
    </message>
    <message>
        <source>It is being applied</source>
        <translation>Es wird gerade angewendet</translation>
    </message>
    <message>
        <source>The plan is being made</source>
        <translation>Der Plan wird gerade gemacht</translation>
    </message>
    <message>
        <source>The weights are not in the folder: this can be planned, not loaded</source>
        <translation>Die Gewichte sind nicht im Ordner: Das lässt sich planen, nicht laden</translation>
    </message>
    <message>
        <source>Nothing to apply: what is loaded sits like this</source>
        <translation>Nichts anzuwenden: Was geladen ist, liegt schon so</translation>
    </message>
    <message>
        <source>It does not fit: see the message above</source>
        <translation>Es passt nicht: siehe die Meldung darüber</translation>
    </message>
    <message>
        <source>Something is being loaded or moved; apply when it is done</source>
        <translation>Gerade wird geladen oder verschoben; wenden Sie es danach an</translation>
    </message>
    <message>
        <source>Waits for the reply; press to take it back</source>
        <translation>Wartet auf die Antwort; Drücken nimmt es zurück</translation>
    </message>
    <message>
        <source>A reply is being written with the present layout; this follows as soon as it is finished</source>
        <translation>Gerade wird eine Antwort mit der jetzigen Platzierung geschrieben; dies folgt, sobald sie fertig ist</translation>
    </message>
    <message>
        <source>Weights in 4 bits</source>
        <translation>Gewichte in 4 Bit</translation>
    </message>
    <message>
        <source>Use 4 bits</source>
        <translation>4 Bit nehmen</translation>
    </message>
    <message>
        <source>Do this first</source>
        <translation>Das zuerst tun</translation>
    </message>
    <message>
        <source>This model&apos;s head has values of its own: it cannot be one table with the embedding.</source>
        <translation>Der Kopf dieses Modells hat eigene Werte: Er kann nicht eine Tabelle mit der Einbettung sein.</translation>
    </message>
    <message>
        <source>Load anyway</source>
        <translation>Trotzdem laden</translation>
    </message>
    <message>
        <source>Run it on a server …</source>
        <translation>Auf einem Server ausführen …</translation>
    </message>
    <message>
        <source>The routed experts of all layers on the CPU, the rest on the GPU</source>
        <translation>Die Experten aller Schichten auf der CPU, der Rest auf der GPU</translation>
    </message>
    <message>
        <source>Copy as picture</source>
        <translation>Als Bild kopieren</translation>
    </message>
    <message>
        <source>Save picture …</source>
        <translation>Bild sichern …</translation>
    </message>
    <message>
        <source>%1 · %2 tokens of context</source>
        <translation>%1 · %2 Token Kontext</translation>
    </message>
    <message>
        <source>Copied as a picture.</source>
        <translation>Als Bild kopiert.</translation>
    </message>
    <message>
        <source>Save the picture</source>
        <translation>Bild sichern</translation>
    </message>
    <message>
        <source>Pictures (*.png)</source>
        <translation>Bilder (*.png)</translation>
    </message>
    <message>
        <source>Simulated %1</source>
        <translation>Simuliert: %1</translation>
    </message>
    <message>
        <source>Point at a block to read what it is.</source>
        <translation>Zeigen Sie auf einen Block, um zu lesen, was er ist.</translation>
    </message>
    <message>
        <source>%1, bounded by %2</source>
        <translation>%1, begrenzt durch %2</translation>
    </message>
    <message>
        <source>the card&apos;s memory</source>
        <translation>den Speicher der Karte</translation>
    </message>
    <message>
        <source>main memory</source>
        <translation>den Hauptspeicher</translation>
    </message>
    <message>
        <source>the processor</source>
        <translation>den Prozessor</translation>
    </message>
    <message>
        <source>the way to the card (PCIe)</source>
        <translation>den Weg zur Karte (PCIe)</translation>
    </message>
    <message>
        <source>the disk</source>
        <translation>die Festplatte</translation>
    </message>
    <message>
        <source>the steps between layers</source>
        <translation>die Schritte zwischen den Schichten</translation>
    </message>
    <message>
        <source>Search a card</source>
        <translation>Karte suchen</translation>
    </message>
    <message>
        <source>Draw what fits …</source>
        <translation>Zeichnen, was passt …</translation>
    </message>
    <message>
        <source>no speed is told for this card</source>
        <translation>für diese Karte wird kein Tempo genannt</translation>
    </message>
</context>
<context>
    <name>ui::Library</name>
    <message>
        <source>half a download</source>
        <translation>halber Download</translation>
    </message>
    <message>
        <source>PyTorch file</source>
        <translation>PyTorch-Datei</translation>
    </message>
    <message>
        <source>MLX</source>
        <translation>MLX</translation>
    </message>
    <message>
        <source>not supported</source>
        <translation>nicht unterstützt</translation>
    </message>
    <message>
        <source>damaged</source>
        <translation>beschädigt</translation>
    </message>
    <message>
        <source>cannot be used</source>
        <translation>nicht verwendbar</translation>
    </message>
    <message>
        <source>Adapter</source>
        <translation>Adapter</translation>
    </message>
    <message>
        <source>rank %1</source>
        <translation>Rang %1</translation>
    </message>
    <message>
        <source>%1 parameters</source>
        <translation>%1 Parameter</translation>
    </message>
    <message>
        <source>Hugging Face cache</source>
        <translation>Hugging-Face-Cache</translation>
    </message>
    <message>
        <source>your folder</source>
        <translation>Ihr Ordner</translation>
    </message>
    <message>
        <source>recent</source>
        <translation>zuletzt benutzt</translation>
    </message>
    <message>
        <source>fits</source>
        <translation>passt</translation>
    </message>
    <message>
        <source>fits when fitted</source>
        <translation>passt angepasst</translation>
    </message>
    <message>
        <source>does not fit</source>
        <translation>passt nicht</translation>
    </message>
    <message>
        <source>It does not say for which model it was made.</source>
        <translation>Er sagt nicht, für welches Modell er gemacht wurde.</translation>
    </message>
    <message>
        <source>Made for %1.</source>
        <translation>Gemacht für %1.</translation>
    </message>
    <message>
        <source>Fits this computer as it is stored.</source>
        <translation>Passt auf diesen Rechner, wie es gespeichert ist.</translation>
    </message>
    <message>
        <source>Fits this computer when parts are moved or packed in 4 bits: the placement “Best fit” does that.</source>
        <translation>Passt auf diesen Rechner, wenn Teile verschoben oder in 4 Bit gepackt werden: Die Platzierung „Beste Passung“ tut das.</translation>
    </message>
    <message>
        <source>Does not fit this computer, also not in 4 bits.</source>
        <translation>Passt nicht auf diesen Rechner, auch nicht in 4 Bit.</translation>
    </message>
    <message>
        <source>Whether it fits is not known yet.</source>
        <translation>Ob es passt, ist noch nicht bekannt.</translation>
    </message>
    <message>
        <source>It takes %1 of memory.</source>
        <translation>Es braucht %1 Speicher.</translation>
    </message>
</context>
<context>
    <name>ui::LibraryModel</name>
    <message>
        <source>Models</source>
        <translation>Modelle</translation>
    </message>
    <message>
        <source>Adapters whose model is not here</source>
        <translation>Adapter, deren Modell nicht hier ist</translation>
    </message>
    <message>
        <source>Cannot be used as they are</source>
        <translation>So nicht verwendbar</translation>
    </message>
</context>
<context>
    <name>ui::LibraryPage</name>
    <message>
        <source>Filter by name, size, place</source>
        <translation>Filtern nach Name, Größe, Ort</translation>
    </message>
    <message>
        <source>Filter the library</source>
        <translation>Die Bibliothek filtern</translation>
    </message>
    <message>
        <source>&amp;Folders…</source>
        <translation>&amp;Ordner…</translation>
    </message>
    <message>
        <source>Folders of yours in which models are looked for</source>
        <translation>Ihre Ordner, in denen nach Modellen gesucht wird</translation>
    </message>
    <message>
        <source>Models and adapters on this computer</source>
        <translation>Modelle und Adapter auf diesem Rechner</translation>
    </message>
    <message>
        <source>&amp;Load</source>
        <translation>&amp;Laden</translation>
    </message>
    <message>
        <source>Load &amp;options…</source>
        <translation>Lade&amp;optionen…</translation>
    </message>
    <message>
        <source>&amp;Show in folder</source>
        <translation>Im Ordner &amp;zeigen</translation>
    </message>
    <message>
        <source>&amp;Delete…</source>
        <translation>L&amp;öschen…</translation>
    </message>
    <message>
        <source>&amp;Get a model</source>
        <translation>Modell &amp;holen</translation>
    </message>
    <message>
        <source>&amp;Add a folder…</source>
        <translation>Ordner hin&amp;zufügen…</translation>
    </message>
    <message>
        <source>Add a folder…</source>
        <translation>Ordner hinzufügen…</translation>
    </message>
    <message>
        <source>Looked in as well; choose one to take it out</source>
        <translation>Auch durchsucht; einen wählen nimmt ihn heraus</translation>
    </message>
    <message>
        <source>S&amp;top looking</source>
        <translation>Suche be&amp;enden</translation>
    </message>
    <message>
        <source>L&amp;ook again</source>
        <translation>&amp;Neu suchen</translation>
    </message>
    <message>
        <source>Looking for models…</source>
        <translation>Sucht nach Modellen…</translation>
    </message>
    <message>
        <source>No models were found in the folders of Hugging Face, LM Studio and llama.cpp. Get one, or tell where yours are.</source>
        <translation>In den Ordnern von Hugging Face, LM Studio und llama.cpp wurden keine Modelle gefunden. Holen Sie eines, oder sagen Sie, wo Ihre sind.</translation>
    </message>
    <message numerus="yes">
        <source>Looking… %n found</source>
        <translation>
            <numerusform>Sucht… %n gefunden</numerusform>
            <numerusform>Sucht… %n gefunden</numerusform>
        </translation>
    </message>
    <message>
        <source>Nothing matches the filter.</source>
        <translation>Nichts passt zum Filter.</translation>
    </message>
    <message>
        <source>Looking was stopped; there may be more.</source>
        <translation>Die Suche wurde beendet; es kann mehr geben.</translation>
    </message>
    <message>
        <source>%1 (%2)</source>
        <translation>%1 (%2)</translation>
    </message>
    <message>
        <source>&amp;Add to the model</source>
        <translation>Zum Modell &amp;hinzufügen</translation>
    </message>
    <message>
        <source>Adapters &amp;for it…</source>
        <translation>Adapter &amp;dafür…</translation>
    </message>
    <message>
        <source>&amp;Get the rest…</source>
        <translation>&amp;Rest holen…</translation>
    </message>
</context>
<context>
    <name>ui::MainWindow</name>
    <message>
        <source>GGUF files (*.gguf);;All files (*)</source>
        <translation>GGUF-Dateien (*.gguf);;Alle Dateien (*)</translation>
    </message>
    <message>
        <source>Choose a model’s GGUF file</source>
        <translation>GGUF-Datei eines Modells wählen</translation>
    </message>
    <message>
        <source>Belfry</source>
        <translation>Belfry</translation>
    </message>
    <message>
        <source>Settings and help</source>
        <translation>Einstellungen und Hilfe</translation>
    </message>
    <message>
        <source>Chat</source>
        <translation>Chat</translation>
    </message>
    <message>
        <source>Layout</source>
        <translation>Platzierung</translation>
    </message>
    <message>
        <source>Both</source>
        <translation>Beides</translation>
    </message>
    <message>
        <source>%1 - Belfry</source>
        <translation>%1 – Belfry</translation>
    </message>
    <message>
        <source>Choose a Gemma 4 model folder</source>
        <translation>Gemma-4-Modellordner wählen</translation>
    </message>
    <message>
        <source>Choose an adapter: a GGUF file, or the adapter_config.json of a PEFT folder</source>
        <translation>Adapter wählen: eine GGUF-Datei oder die adapter_config.json eines PEFT-Ordners</translation>
    </message>
    <message>
        <source>Adapters (adapter_config.json *.gguf)</source>
        <translation>Adapter (adapter_config.json *.gguf)</translation>
    </message>
    <message>
        <source>Drop to attach to the next message</source>
        <translation>Ablegen, um an die nächste Nachricht anzuhängen</translation>
    </message>
    <message>
        <source>Drop to add this adapter</source>
        <translation>Ablegen, um diesen Adapter hinzuzufügen</translation>
    </message>
    <message>
        <source>Drop to choose this model</source>
        <translation>Ablegen, um dieses Modell zu wählen</translation>
    </message>
    <message>
        <source>Where is %1 now?</source>
        <translation>Wo ist %1 jetzt?</translation>
    </message>
    <message>
        <source>The graphics card still does not answer</source>
        <translation>Die Grafikkarte antwortet weiterhin nicht</translation>
    </message>
    <message>
        <source>Restart Belfry</source>
        <translation>Belfry neu starten</translation>
    </message>
    <message>
        <source>The graphics card stopped answering</source>
        <translation>Die Grafikkarte antwortet nicht mehr</translation>
    </message>
    <message>
        <source>Loading again starts the engine anew; every part goes where it was, and the chat stays.</source>
        <translation>Erneutes Laden startet die Maschine neu; jeder Teil kommt an seinen Platz, und der Chat bleibt.</translation>
    </message>
    <message>
        <source>Load again</source>
        <translation>Erneut laden</translation>
    </message>
    <message>
        <source>%1 cannot be attached: Belfry takes pictures (PNG, JPEG, WebP), sounds (WAV, FLAC, OGG, MP3), GGUF files and folders with a model or an adapter</source>
        <translation>%1 lässt sich nicht anhängen: Belfry nimmt Bilder (PNG, JPEG, WebP), Töne (WAV, FLAC, OGG, MP3), GGUF-Dateien und Ordner mit einem Modell oder Adapter</translation>
    </message>
    <message>
        <source>Show the list of chats</source>
        <translation>Liste der Chats zeigen</translation>
    </message>
    <message>
        <source>Undo</source>
        <translation>Rückgängig</translation>
    </message>
    <message>
        <source>Drop to see what this file is</source>
        <translation>Loslassen, um zu sehen, was diese Datei ist</translation>
    </message>
    <message>
        <source>%1 is being loaded</source>
        <translation>%1 wird gerade geladen</translation>
    </message>
    <message>
        <source>Parts are being moved</source>
        <translation>Gerade werden Teile verschoben</translation>
    </message>
    <message>
        <source>It goes on. Should it stop? What was there before stays.</source>
        <translation>Es geht weiter. Soll es aufhören? Was vorher da war, bleibt.</translation>
    </message>
    <message>
        <source>Stop loading</source>
        <translation>Laden abbrechen</translation>
    </message>
    <message>
        <source>Stop moving</source>
        <translation>Verschieben abbrechen</translation>
    </message>
    <message>
        <source>Loading of %1 was stopped</source>
        <translation>Das Laden von %1 wurde abgebrochen</translation>
    </message>
    <message>
        <source>Moving was stopped</source>
        <translation>Das Verschieben wurde abgebrochen</translation>
    </message>
    <message>
        <source>By the Esc key.</source>
        <translation>Mit der Esc-Taste.</translation>
    </message>
    <message>
        <source>Resume</source>
        <translation>Fortsetzen</translation>
    </message>
    <message>
        <source>1 change waits for Apply</source>
        <translation>1 Änderung wartet auf „Anwenden“</translation>
    </message>
    <message>
        <source>%1 changes wait for Apply</source>
        <translation>%1 Änderungen warten auf „Anwenden“</translation>
    </message>
    <message>
        <source>%1: %2</source>
        <translation>%1: %2</translation>
    </message>
    <message>
        <source>Your chats are saved, also what there is of the reply. After a restart Belfry is where you are now: this chat, the same model, layout and adapters.</source>
        <translation>Ihre Chats sind gespeichert, auch was von der Antwort da ist. Nach einem Neustart ist Belfry, wo Sie jetzt sind: dieser Chat, dasselbe Modell, dieselbe Platzierung, dieselben Adapter.</translation>
    </message>
    <message>
        <source>Go on on the processor</source>
        <translation>Auf dem Prozessor weitermachen</translation>
    </message>
    <message>
        <source>Everything runs on the processor for now</source>
        <translation>Vorerst läuft alles auf dem Prozessor</translation>
    </message>
    <message>
        <source>The graphics card is there again after a restart, with everything where it was.</source>
        <translation>Nach einem Neustart ist die Grafikkarte wieder da, mit allem, wo es war.</translation>
    </message>
    <message>
        <source>Help</source>
        <translation>Hilfe</translation>
    </message>
    <message>
        <source>About Belfry</source>
        <translation>Über Belfry</translation>
    </message>
    <message>
        <source>The map %1 needs a model</source>
        <translation>Die Karte %1 braucht ein Modell</translation>
    </message>
    <message>
        <source>It says where the parts of a model go. Choose a model, then open the map again.</source>
        <translation>Sie sagt, wohin die Teile eines Modells kommen. Wählen Sie ein Modell, dann öffnen Sie die Karte noch einmal.</translation>
    </message>
    <message>
        <source>Choose a model</source>
        <translation>Modell wählen</translation>
    </message>
    <message>
        <source>The profile %1 was saved</source>
        <translation>Das Profil %1 wurde gespeichert</translation>
    </message>
    <message>
        <source>The profile %1 is chosen</source>
        <translation>Das Profil %1 ist gewählt</translation>
    </message>
    <message>
        <source>Load makes it true.</source>
        <translation>Mit „Laden“ gilt es.</translation>
    </message>
    <message>
        <source>The adapters of the profile %1 were not added</source>
        <translation>Die Adapter des Profils %1 wurden nicht hinzugefügt</translation>
    </message>
    <message>
        <source>Another model is loaded than the one that is chosen. Load it, then choose the profile again.</source>
        <translation>Geladen ist ein anderes Modell als das gewählte. Laden Sie es, und wählen Sie das Profil dann noch einmal.</translation>
    </message>
    <message>
        <source>Load anyway</source>
        <translation>Trotzdem laden</translation>
    </message>
    <message>
        <source>Options…</source>
        <translation>Einstellungen …</translation>
    </message>
    <message>
        <source>See where each part of the model sits</source>
        <translation>Sehen Sie, wo jeder Teil des Modells sitzt</translation>
    </message>
    <message>
        <source>Show me</source>
        <translation>Zeigen</translation>
    </message>
    <message>
        <source>Give the demo another way to answer</source>
        <translation>Lassen Sie das Demomodell anders antworten</translation>
    </message>
    <message>
        <source>An adapter is a small file that changes a model. The demo has one of its own: it acts on the next answer, without loading again.</source>
        <translation>Ein Adapter ist eine kleine Datei, die ein Modell verändert. Das Demomodell hat einen eigenen: Er wirkt auf die nächste Antwort, ohne neu zu laden.</translation>
    </message>
    <message>
        <source>Add it</source>
        <translation>Hinzufügen</translation>
    </message>
    <message>
        <source>Compare with and without the adapter</source>
        <translation>Vergleichen Sie mit und ohne Adapter</translation>
    </message>
    <message>
        <source>One question, both answers side by side, from one model in memory.</source>
        <translation>Eine Frage, beide Antworten nebeneinander, von einem Modell im Speicher.</translation>
    </message>
    <message>
        <source>Compare</source>
        <translation>Vergleichen</translation>
    </message>
    <message>
        <source>Skip the tour</source>
        <translation>Rundgang überspringen</translation>
    </message>
    <message>
        <source>Other programs…</source>
        <translation>Andere Programme …</translation>
    </message>
    <message>
        <source>Connect to a server…</source>
        <translation>Mit einem Server verbinden…</translation>
    </message>
    <message>
        <source>A folder in which models are</source>
        <translation>Ein Ordner, in dem Modelle sind</translation>
    </message>
    <message>
        <source>%1 is here, whole and checked</source>
        <translation>%1 ist da, ganz und geprüft</translation>
    </message>
    <message>
        <source>Add to the model</source>
        <translation>Zum Modell hinzufügen</translation>
    </message>
    <message>
        <source>Load</source>
        <translation>Laden</translation>
    </message>
    <message>
        <source>Choose the folder of the drafting assistant</source>
        <translation>Den Ordner des Entwurfs-Assistenten wählen</translation>
    </message>
    <message>
        <source>%1 on %2</source>
        <translation>%1 auf %2</translation>
    </message>
    <message>
        <source>Every part is a block that you can drag, here on a small card that is only simulated. The answers stay the same.</source>
        <translation>Jeder Teil ist ein Block, den Sie ziehen können, hier auf einer kleinen, nur simulierten Karte. Die Antworten bleiben dieselben.</translation>
    </message>
    <message>
        <source>A simulated card of %1, %2 % full</source>
        <translation>Eine simulierte Karte mit %1, zu %2 % voll</translation>
    </message>
    <message>
        <source>Drag the vision tower onto the CPU and watch it leave the bar at the right.</source>
        <translation>Ziehen Sie den Bildturm auf die CPU und sehen Sie, wie er den Balken rechts verlässt.</translation>
    </message>
    <message>
        <source>The tower has left the bar</source>
        <translation>Der Turm hat den Balken verlassen</translation>
    </message>
    <message>
        <source>Now drag the audio tower onto the card: its room to compute is too much for it.</source>
        <translation>Ziehen Sie nun den Audioturm auf die Karte: sein Platz zum Rechnen ist zu viel für sie.</translation>
    </message>
    <message>
        <source>And your card?</source>
        <translation>Und Ihre Karte?</translation>
    </message>
    <message>
        <source>Gemma 4 E2B, planned for your %1. Other cards are in the menu What if.</source>
        <translation>Gemma 4 E2B, geplant für Ihre %1. Andere Karten stehen im Menü Was wäre wenn.</translation>
    </message>
    <message>
        <source>Gemma 4 E2B, planned for a card of %1 GiB (%2). Yours is in the menu What if.</source>
        <translation>Gemma 4 E2B, geplant für eine Karte mit %1 GiB (%2). Ihre steht im Menü Was wäre wenn.</translation>
    </message>
    <message>
        <source>Show Gemma 4 E2B</source>
        <translation>Gemma 4 E2B zeigen</translation>
    </message>
    <message>
        <source>Kept for when it is here: %1, %2 tokens</source>
        <translation>Gemerkt, bis es da ist: %1, %2 Token</translation>
    </message>
    <message>
        <source>The new layout is in force</source>
        <translation>Die neue Platzierung gilt</translation>
    </message>
    <message>
        <source>Is the answer still the same, and what does it cost?</source>
        <translation>Ist die Antwort noch dieselbe, und was kostet es?</translation>
    </message>
    <message>
        <source>Ask the last question again</source>
        <translation>Die letzte Frage noch einmal stellen</translation>
    </message>
</context>
<context>
    <name>ui::MemoryKind</name>
    <message>
        <source>layers</source>
        <translation>Schichten</translation>
    </message>
    <message>
        <source>experts</source>
        <translation>Experten</translation>
    </message>
    <message>
        <source>per-layer table</source>
        <translation>Tabelle je Schicht</translation>
    </message>
    <message>
        <source>head + words</source>
        <translation>Kopf + Wörter</translation>
    </message>
    <message>
        <source>vision</source>
        <translation>Bild</translation>
    </message>
    <message>
        <source>audio</source>
        <translation>Audio</translation>
    </message>
    <message>
        <source>other weights</source>
        <translation>übrige Gewichte</translation>
    </message>
    <message>
        <source>adapter</source>
        <translation>Adapter</translation>
    </message>
    <message>
        <source>KV cache</source>
        <translation>KV-Cache</translation>
    </message>
    <message>
        <source>workspace</source>
        <translation>Arbeitsbereich</translation>
    </message>
    <message>
        <source>driver</source>
        <translation>Treiber</translation>
    </message>
    <message>
        <source>The model itself: every token reads all of it.</source>
        <translation>Das eigentliche Modell: jedes Token liest alles davon.</translation>
    </message>
    <message>
        <source>Specialists, of which each token uses a few.</source>
        <translation>Spezialisten, von denen jedes Token einige braucht.</translation>
    </message>
    <message>
        <source>A look-up table, of which each token reads one row.</source>
        <translation>Eine Nachschlagetabelle, von der jedes Token eine Zeile liest.</translation>
    </message>
    <message>
        <source>The list of words: one row is read on the way in, all of it to choose the next word.</source>
        <translation>Die Liste der Wörter: auf dem Weg hinein wird eine Zeile gelesen, für die Wahl des nächsten Wortes alles.</translation>
    </message>
    <message>
        <source>Turns pictures into tokens; text alone never uses it.</source>
        <translation>Macht aus Bildern Token; Text allein braucht ihn nie.</translation>
    </message>
    <message>
        <source>Turns sounds into tokens; text alone never uses it.</source>
        <translation>Macht aus Aufnahmen Token; Text allein braucht ihn nie.</translation>
    </message>
    <message>
        <source>Small pieces between the others, and the drafting assistant.</source>
        <translation>Kleine Stücke zwischen den anderen und der Entwurfs-Assistent.</translation>
    </message>
    <message>
        <source>The small matrices of adapters, computed beside the weights, which stay as they are.</source>
        <translation>Die kleinen Matrizen der Adapter; sie werden neben den Gewichten gerechnet, die bleiben, wie sie sind.</translation>
    </message>
    <message>
        <source>Attention memory: what the model keeps of the chat. A shorter context takes less.</source>
        <translation>Gedächtnis der Aufmerksamkeit: was das Modell vom Chat behält. Ein kürzerer Kontext braucht weniger.</translation>
    </message>
    <message>
        <source>Room to compute: what lies between two layers while a prompt, a picture or a sound is read.</source>
        <translation>Platz zum Rechnen: was zwischen zwei Schichten liegt, während ein Prompt, ein Bild oder eine Aufnahme gelesen wird.</translation>
    </message>
    <message>
        <source>What the card&apos;s driver needs to run programs on it.</source>
        <translation>Was der Treiber der Karte braucht, um Programme auf ihr laufen zu lassen.</translation>
    </message>
</context>
<context>
    <name>ui::MemoryMeter</name>
    <message>
        <source>Memory</source>
        <translation>Speicher</translation>
    </message>
    <message>
        <source>No model is loaded or planned.</source>
        <translation>Es ist kein Modell geladen oder geplant.</translation>
    </message>
    <message>
        <source>used by Belfry %1</source>
        <translation>von Belfry belegt %1</translation>
    </message>
    <message>
        <source>predicted %1</source>
        <translation>vorhergesagt %1</translation>
    </message>
    <message>
        <source>other programs %1</source>
        <translation>andere Programme %1</translation>
    </message>
    <message>
        <source>of %1</source>
        <translation>von %1</translation>
    </message>
    <message>
        <source>limit %1</source>
        <translation>Grenze %1</translation>
    </message>
    <message>
        <source>driver (assumed)</source>
        <translation>Treiber (angenommen)</translation>
    </message>
    <message>
        <source>budget of the system %1</source>
        <translation>Zuteilung des Systems %1</translation>
    </message>
    <message>
        <source>Not this computer</source>
        <translation>Nicht dieser Rechner</translation>
    </message>
    <message>
        <source>set aside %1</source>
        <translation>zurückgelegt %1</translation>
    </message>
    <message>
        <source>planned %1, now %2</source>
        <translation>geplant %1, jetzt %2</translation>
    </message>
    <message>
        <source>Copies of %1 of %2 experts take %3 % of a token&apos;s choices</source>
        <translation>Kopien von %1 der %2 Experten bedienen %3 % der Wahlen eines Tokens</translation>
    </message>
    <message>
        <source>%1 GB/s come from main memory</source>
        <translation>%1 GB/s kommen aus dem Hauptspeicher</translation>
    </message>
    <message>
        <source>%1; with one GiB more %2 %</source>
        <translation>%1; mit einem GiB mehr %2 %</translation>
    </message>
    <message>
        <source>predicted %1, measured %2</source>
        <translation>vorhergesagt %1, gemessen %2</translation>
    </message>
</context>
<context>
    <name>ui::MessageBlock</name>
    <message>
        <source>code</source>
        <translation>Code</translation>
    </message>
    <message>
        <source>Copy</source>
        <translation>Kopieren</translation>
    </message>
    <message>
        <source>file not found</source>
        <translation>Datei nicht gefunden</translation>
    </message>
    <message>
        <source>no preview</source>
        <translation>keine Vorschau</translation>
    </message>
    <message>
        <source>%1 / %2</source>
        <comment>version shown / number of versions</comment>
        <translation>%1 / %2</translation>
    </message>
</context>
<context>
    <name>ui::MessageItem</name>
    <message>
        <source>Thinking…</source>
        <translation>Denkt …</translation>
    </message>
    <message>
        <source>Thoughts (words: about %1)</source>
        <translation>Gedanken (Wörter: etwa %1)</translation>
    </message>
    <message>
        <source>media: %1</source>
        <translation>Medien: %1</translation>
    </message>
    <message>
        <source>%1 tokens/s</source>
        <translation>%1 Token/s</translation>
    </message>
    <message>
        <source>first token %1</source>
        <translation>erstes Token %1</translation>
    </message>
    <message>
        <source>Esc stops</source>
        <translation>Esc hält an</translation>
    </message>
    <message>
        <source>stopped by you</source>
        <translation>von Ihnen angehalten</translation>
    </message>
    <message>
        <source>stopped at the token limit of this chat</source>
        <translation>an der Tokengrenze dieses Chats angehalten</translation>
    </message>
    <message>
        <source>stopped: the context is full</source>
        <translation>angehalten: Der Kontext ist voll</translation>
    </message>
    <message>
        <source>cut short before its end</source>
        <translation>vor dem Ende abgebrochen</translation>
    </message>
    <message>
        <source>left out above: the model no longer sees it</source>
        <translation>darüber weggelassen: Das Modell sieht es nicht mehr</translation>
    </message>
    <message>
        <source>Thinking… %1</source>
        <translation>Denkt nach … %1</translation>
    </message>
    <message>
        <source>Thought for %1 (words: about %2)</source>
        <translation>%1 nachgedacht (Wörter: etwa %2)</translation>
    </message>
    <message>
        <source>answered by %1</source>
        <translation>Antwort von %1</translation>
    </message>
    <message>
        <source>edited by you</source>
        <translation>von Ihnen geändert</translation>
    </message>
</context>
<context>
    <name>ui::MessageList</name>
    <message>
        <source>Conversation</source>
        <translation>Unterhaltung</translation>
    </message>
    <message>
        <source>Scroll the conversation</source>
        <translation>Unterhaltung rollen</translation>
    </message>
    <message>
        <source>Copy message</source>
        <translation>Nachricht kopieren</translation>
    </message>
    <message>
        <source>Edit and resend</source>
        <translation>Bearbeiten und neu senden</translation>
    </message>
    <message>
        <source>Delete message</source>
        <translation>Nachricht löschen</translation>
    </message>
    <message>
        <source>Copied</source>
        <translation>Kopiert</translation>
    </message>
    <message>
        <source>Copy selection</source>
        <translation>Auswahl kopieren</translation>
    </message>
    <message>
        <source>Copy link</source>
        <translation>Link kopieren</translation>
    </message>
    <message>
        <source>Copy last code block</source>
        <translation>Letzten Codeblock kopieren</translation>
    </message>
    <message>
        <source>Open %1</source>
        <translation>%1 öffnen</translation>
    </message>
    <message>
        <source>Regenerate</source>
        <translation>Neu erzeugen</translation>
    </message>
    <message>
        <source>Fold thoughts</source>
        <translation>Gedanken einklappen</translation>
    </message>
    <message>
        <source>Show thoughts</source>
        <translation>Gedanken zeigen</translation>
    </message>
    <message>
        <source>Delete question and reply</source>
        <translation>Frage und Antwort löschen</translation>
    </message>
    <message>
        <source>Delete reply</source>
        <translation>Antwort löschen</translation>
    </message>
    <message>
        <source>Continue this reply</source>
        <translation>Diese Antwort fortsetzen</translation>
    </message>
    <message>
        <source>Regenerate this reply</source>
        <translation>Diese Antwort neu erzeugen</translation>
    </message>
    <message>
        <source>Version before</source>
        <translation>Vorige Fassung</translation>
    </message>
    <message>
        <source>Version after</source>
        <translation>Nächste Fassung</translation>
    </message>
    <message>
        <source>Up and Down walk over the messages, the context menu has their actions; Enter plays the sound of a message</source>
        <translation>Auf und Ab gehen durch die Nachrichten, das Kontextmenü hat ihre Aktionen; Eingabe spielt den Ton einer Nachricht ab</translation>
    </message>
    <message>
        <source>Pause %1</source>
        <translation>%1 anhalten</translation>
    </message>
    <message>
        <source>Play %1</source>
        <translation>%1 abspielen</translation>
    </message>
    <message>
        <source>Copy formula (LaTeX)</source>
        <translation>Formel kopieren (LaTeX)</translation>
    </message>
    <message>
        <source>Edit the reply</source>
        <translation>Antwort bearbeiten</translation>
    </message>
    <message>
        <source>Go on from here in a chat of its own</source>
        <translation>Ab hier in einem eigenen Chat weitermachen</translation>
    </message>
</context>
<context>
    <name>ui::MeterCanvas</name>
    <message>
        <source>Memory of every device appears here once a model is chosen: what is used, what a layout would use, and by whom.</source>
        <translation>Hier erscheint der Speicher jedes Geräts, sobald ein Modell gewählt ist: was belegt ist, was eine Platzierung belegen würde und durch wen.</translation>
    </message>
    <message>
        <source>free</source>
        <translation>frei</translation>
    </message>
    <message>
        <source>other programs</source>
        <translation>andere Programme</translation>
    </message>
    <message>
        <source>%1 · measured</source>
        <translation>%1 · gemessen</translation>
    </message>
    <message>
        <source>%1 · planned</source>
        <translation>%1 · geplant</translation>
    </message>
    <message>
        <source>Last minute</source>
        <translation>Letzte Minute</translation>
    </message>
    <message>
        <source>%1 of %2</source>
        <translation>%1 von %2</translation>
    </message>
    <message>
        <source>predicted %1</source>
        <translation>vorhergesagt %1</translation>
    </message>
    <message>
        <source>Disk</source>
        <translation>Datenträger</translation>
    </message>
    <message>
        <source>nothing is read from it while running</source>
        <translation>im Betrieb wird nichts davon gelesen</translation>
    </message>
    <message>
        <source>%1 read when needed</source>
        <translation>%1 bei Bedarf gelesen</translation>
    </message>
    <message>
        <source>Once a model is chosen, what a layout would use stands here beside what is used.</source>
        <translation>Sobald ein Modell gewählt ist, steht hier neben dem Belegten, was eine Platzierung belegen würde.</translation>
    </message>
    <message>
        <source>0 to %1</source>
        <translation>0 bis %1</translation>
    </message>
    <message>
        <source>the system&apos;s budget</source>
        <translation>Zuteilung des Systems</translation>
    </message>
    <message>
        <source>Not this computer</source>
        <translation>Nicht dieser Rechner</translation>
    </message>
    <message>
        <source>%1 of main memory are assumed. A part of each memory is set aside for the system and other programs.</source>
        <translation>Angenommen sind %1 Hauptspeicher. Ein Teil jedes Speichers bleibt dem System und anderen Programmen.</translation>
    </message>
    <message>
        <source>set aside</source>
        <translation>zurückgelegt</translation>
    </message>
    <message>
        <source>limit %1</source>
        <translation>Grenze %1</translation>
    </message>
</context>
<context>
    <name>ui::ModelButton</name>
    <message>
        <source>Choose a model</source>
        <translation>Modell wählen</translation>
    </message>
    <message>
        <source>%1 parameters</source>
        <translation>%1 Parameter</translation>
    </message>
    <message>
        <source>text</source>
        <translation>Text</translation>
    </message>
    <message>
        <source>image</source>
        <translation>Bild</translation>
    </message>
    <message>
        <source>audio</source>
        <translation>Audio</translation>
    </message>
    <message>
        <source>Model: %1</source>
        <translation>Modell: %1</translation>
    </message>
    <message>
        <source>Opens the list of models and the load options</source>
        <translation>Öffnet die Liste der Modelle und die Ladeoptionen</translation>
    </message>
    <message>
        <source>Models and load options</source>
        <translation>Modelle und Ladeoptionen</translation>
    </message>
    <message>
        <source>loaded</source>
        <translation>geladen</translation>
    </message>
    <message>
        <source>connected</source>
        <translation>verbunden</translation>
    </message>
</context>
<context>
    <name>ui::ModelPanel</name>
    <message>
        <source>A model in one file, as llama.cpp, LM Studio and Ollama use it</source>
        <translation>Ein Modell in einer Datei, wie llama.cpp, LM Studio und Ollama es verwenden</translation>
    </message>
    <message>
        <source>Choose a GGUF fil&amp;e…</source>
        <translation>GGUF-Dat&amp;ei wählen …</translation>
    </message>
    <message>
        <source>Models and load options</source>
        <translation>Modelle und Ladeoptionen</translation>
    </message>
    <message>
        <source>Choose a &amp;folder…</source>
        <translation>&amp;Ordner wählen …</translation>
    </message>
    <message>
        <source>&amp;Demo model</source>
        <translation>&amp;Demomodell</translation>
    </message>
    <message>
        <source>The small model that comes with Belfry</source>
        <translation>Das kleine Modell, das Belfry beiliegt</translation>
    </message>
    <message>
        <source>Recent</source>
        <translation>Zuletzt benutzt</translation>
    </message>
    <message>
        <source>Recent models</source>
        <translation>Zuletzt benutzte Modelle</translation>
    </message>
    <message>
        <source>Placement</source>
        <translation>Platzierung</translation>
    </message>
    <message>
        <source>Weights</source>
        <translation>Gewichte</translation>
    </message>
    <message>
        <source>Context</source>
        <translation>Kontext</translation>
    </message>
    <message>
        <source>Graphics card</source>
        <translation>Grafikkarte</translation>
    </message>
    <message>
        <source>What this computer has</source>
        <translation>Was dieser Rechner hat</translation>
    </message>
    <message>
        <source>Simulated, %1</source>
        <translation>Simuliert, %1</translation>
    </message>
    <message>
        <source>A simulated card computes on the processor inside a hard memory limit: try layouts without the card</source>
        <translation>Eine simulierte Karte rechnet auf dem Prozessor innerhalb einer harten Speichergrenze: Platzierungen ohne die Karte ausprobieren</translation>
    </message>
    <message>
        <source>&amp;Placement</source>
        <translation>&amp;Platzierung</translation>
    </message>
    <message>
        <source>&amp;Weights</source>
        <translation>Ge&amp;wichte</translation>
    </message>
    <message>
        <source>Conte&amp;xt</source>
        <translation>Konte&amp;xt</translation>
    </message>
    <message>
        <source>KV cache</source>
        <translation>KV-Cache</translation>
    </message>
    <message>
        <source>8 bits</source>
        <translation>8 Bit</translation>
    </message>
    <message>
        <source>What the model keeps of the conversation. In 8 bits it takes about half the memory; answers can change a little.</source>
        <translation>Was das Modell vom Gespräch behält. In 8 Bit braucht es etwa die Hälfte des Speichers; Antworten können sich ein wenig ändern.</translation>
    </message>
    <message>
        <source>&amp;KV cache</source>
        <translation>&amp;KV-Cache</translation>
    </message>
    <message>
        <source>&amp;Graphics card</source>
        <translation>&amp;Grafikkarte</translation>
    </message>
    <message>
        <source>&amp;Load</source>
        <translation>&amp;Laden</translation>
    </message>
    <message>
        <source>%1 tokens</source>
        <translation>%1 Token</translation>
    </message>
    <message numerus="yes">
        <source>%n simulated cards</source>
        <translation>
            <numerusform>%n simulierte Karte</numerusform>
            <numerusform>%n simulierte Karten</numerusform>
        </translation>
    </message>
    <message>
        <source>text</source>
        <translation>Text</translation>
    </message>
    <message>
        <source>images</source>
        <translation>Bilder</translation>
    </message>
    <message>
        <source>audio</source>
        <translation>Audio</translation>
    </message>
    <message>
        <source>Reading %1 …</source>
        <translation>Liest %1 …</translation>
    </message>
    <message>
        <source>%1 cannot be used.</source>
        <translation>%1 kann nicht verwendet werden.</translation>
    </message>
    <message>
        <source>Re&amp;load</source>
        <translation>&amp;Neu laden</translation>
    </message>
    <message>
        <source>This does not fit.</source>
        <translation>Das passt nicht.</translation>
    </message>
    <message>
        <source>%1: %2 of %3</source>
        <translation>%1: %2 von %3</translation>
    </message>
    <message>
        <source>Fits. %1</source>
        <translation>Passt. %1</translation>
    </message>
    <message>
        <source>Choose a Gemma 4 model folder</source>
        <translation>Gemma-4-Modellordner wählen</translation>
    </message>
    <message>
        <source>Lo&amp;cate…</source>
        <translation>&amp;Suchen …</translation>
    </message>
    <message>
        <source>Tell where the folder is now</source>
        <translation>Angeben, wo der Ordner jetzt ist</translation>
    </message>
    <message>
        <source>Re&amp;move from the list</source>
        <translation>Aus der Liste ent&amp;fernen</translation>
    </message>
    <message>
        <source>Forget this folder; no file is deleted</source>
        <translation>Diesen Ordner vergessen; keine Datei wird gelöscht</translation>
    </message>
    <message>
        <source>Gemma 4, not one of the published sizes</source>
        <translation>Gemma 4, keine der veröffentlichten Größen</translation>
    </message>
    <message>
        <source>Gemma 4 %1</source>
        <translation>Gemma 4 %1</translation>
    </message>
    <message>
        <source>Not loaded. %1 answers until it is.</source>
        <translation>Nicht geladen. Bis dahin antwortet %1.</translation>
    </message>
    <message>
        <source>%1 · %2 parameters · would be %3 on disk · %4
Understands %5 · up to %6 tokens</source>
        <translation>%1 · %2 Parameter · wäre auf dem Datenträger %3 groß · %4
Versteht %5 · bis zu %6 Token</translation>
    </message>
    <message>
        <source>%1 · %2 parameters · %3 on disk · %4
Understands %5 · up to %6 tokens</source>
        <translation>%1 · %2 Parameter · %3 auf dem Datenträger · %4
Versteht %5 · bis zu %6 Token</translation>
    </message>
    <message>
        <source>%1, about %2 tokens/s</source>
        <translation>%1, etwa %2 Token/s</translation>
    </message>
    <message>
        <source>%1, which does not fit</source>
        <translation>%1, das passt nicht</translation>
    </message>
    <message>
        <source>The vision and the audio tower stay in the files and take no memory. Pictures and sounds cannot be read then; loading without this option brings them back.</source>
        <translation>Bild- und Tonturm bleiben in den Dateien und brauchen keinen Speicher. Bilder und Klänge können dann nicht gelesen werden; ohne diese Einstellung geladen sind sie wieder da.</translation>
    </message>
    <message>
        <source>Use &amp;4 bits</source>
        <translation>&amp;4 Bit nehmen</translation>
    </message>
    <message>
        <source>&amp;Load anyway</source>
        <translation>Trotzdem &amp;laden</translation>
    </message>
    <message>
        <source>&amp;Text only</source>
        <translation>Nur &amp;Text</translation>
    </message>
    <message>
        <source>&amp;Text only: saves %1</source>
        <translation>Nur &amp;Text: spart %1</translation>
    </message>
    <message>
        <source>&amp;Text only: would save %1</source>
        <translation>Nur &amp;Text: würde %1 sparen</translation>
    </message>
    <message>
        <source>In 4 bits: %1.
As stored: %2.</source>
        <translation>In 4 Bit: %1.
Wie gespeichert: %2.</translation>
    </message>
    <message>
        <source>Ser&amp;ver…</source>
        <translation>Ser&amp;ver…</translation>
    </message>
    <message>
        <source>Let a model on another computer answer</source>
        <translation>Ein Modell auf einem anderen Computer antworten lassen</translation>
    </message>
    <message>
        <source>&amp;Run it on a server…</source>
        <translation>Auf einem Se&amp;rver ausführen…</translation>
    </message>
    <message>
        <source>Asking %1 …</source>
        <translation>%1 wird gefragt …</translation>
    </message>
    <message>
        <source>On %1: what you write and attach is sent there.
Up to %2 tokens</source>
        <translation>Auf %1: Was Sie schreiben und anhängen, geht dorthin.
Bis zu %2 Token</translation>
    </message>
    <message>
        <source>On %1: what you write and attach is sent there.</source>
        <translation>Auf %1: Was Sie schreiben und anhängen, geht dorthin.</translation>
    </message>
    <message>
        <source>Re&amp;connect</source>
        <translation>Wieder verbin&amp;den</translation>
    </message>
    <message>
        <source>&amp;Connect</source>
        <translation>Verbin&amp;den</translation>
    </message>
    <message>
        <source>L&amp;ibrary…</source>
        <translation>B&amp;ibliothek…</translation>
    </message>
    <message>
        <source>Models on this computer, and where to get more</source>
        <translation>Modelle auf diesem Rechner, und woher mehr kommen</translation>
    </message>
    <message>
        <source>The one in the model&apos;s folder</source>
        <translation>Der im Ordner des Modells</translation>
    </message>
    <message>
        <source>Drafting assistant</source>
        <translation>Entwurfs-Assistent</translation>
    </message>
    <message>
        <source>A small model that guesses the next tokens, which the model checks several at a time. The text is the same; where it is slower, it leaves itself out.</source>
        <translation>Ein kleines Modell, das die nächsten Token rät; das Modell prüft mehrere auf einmal. Der Text bleibt derselbe; wo es langsamer ist, setzt es von selbst aus.</translation>
    </message>
    <message>
        <source>Drafts a round</source>
        <translation>Entwürfe je Runde</translation>
    </message>
    <message>
        <source>As many as pay</source>
        <translation>So viele, wie sich lohnen</translation>
    </message>
    <message>
        <source>Drafting &amp;assistant</source>
        <translation>Entwurfs-&amp;Assistent</translation>
    </message>
    <message>
        <source>Drafts a rou&amp;nd</source>
        <translation>&amp;Entwürfe je Runde</translation>
    </message>
    <message>
        <source>&amp;Use it</source>
        <translation>&amp;Benutzen</translation>
    </message>
    <message>
        <source>None</source>
        <translation>Keiner</translation>
    </message>
    <message>
        <source>If there is one</source>
        <translation>Falls es einen gibt</translation>
    </message>
    <message>
        <source>Choose a folder…</source>
        <translation>Ordner wählen …</translation>
    </message>
    <message>
        <source>A drafting assistant for this model is there: it can make replies faster.</source>
        <translation>Ein Entwurfs-Assistent für dieses Modell ist da: Er kann Antworten schneller machen.</translation>
    </message>
    <message>
        <source>It is asked again by itself while this window shows it.</source>
        <translation>Er wird von selbst wieder gefragt, solange dieses Fenster ihn zeigt.</translation>
    </message>
    <message>
        <source>Not connected. %1 answers until it is.</source>
        <translation>Nicht verbunden. Bis dahin antwortet %1.</translation>
    </message>
    <message>
        <source>&amp;Load here</source>
        <translation>Hier &amp;laden</translation>
    </message>
    <message>
        <source>16 bits</source>
        <translation>16 Bit</translation>
    </message>
    <message>
        <source>%1 beside %2</source>
        <translation>%1 neben %2</translation>
    </message>
    <message>
        <source>%1 %</source>
        <translation>%1 %</translation>
    </message>
    <message>
        <source>Beside 16 bits</source>
        <translation>Neben 16 Bit</translation>
    </message>
    <message>
        <source>same token</source>
        <translation>gleiches Token</translation>
    </message>
    <message>
        <source>KL</source>
        <translation>KL</translation>
    </message>
    <message>
        <source>measured</source>
        <translation>gemessen</translation>
    </message>
</context>
<context>
    <name>ui::ModelsPage</name>
    <message>
        <source>&amp;Back</source>
        <translation>&amp;Zurück</translation>
    </message>
    <message>
        <source>Back to chat and layout (Esc)</source>
        <translation>Zurück zu Chat und Layout (Esc)</translation>
    </message>
    <message>
        <source>Library</source>
        <translation>Bibliothek</translation>
    </message>
    <message>
        <source>Get a model</source>
        <translation>Modell holen</translation>
    </message>
    <message>
        <source>What fits</source>
        <translation>Was passt</translation>
    </message>
</context>
<context>
    <name>ui::Note</name>
    <message>
        <source>Not everything fits on one device: the parts are where they cost the least time.</source>
        <translation>Nicht alles passt auf ein Gerät: Die Teile liegen dort, wo sie am wenigsten Zeit kosten.</translation>
    </message>
</context>
<context>
    <name>ui::NoticeBar</name>
    <message>
        <source>Details</source>
        <translation>Einzelheiten</translation>
    </message>
    <message>
        <source>Show details of the message</source>
        <translation>Einzelheiten der Meldung zeigen</translation>
    </message>
    <message>
        <source>Dismiss</source>
        <translation>Ausblenden</translation>
    </message>
    <message>
        <source>Dismiss the message</source>
        <translation>Meldung ausblenden</translation>
    </message>
</context>
<context>
    <name>ui::NoticeStrip</name>
    <message>
        <source>Move parts to another device in the layout, choose 4 bits, or take a smaller context.</source>
        <translation>Bewegen Sie Teile in der Platzierung auf ein anderes Gerät, wählen Sie 4 Bit oder einen kleineren Kontext.</translation>
    </message>
    <message>
        <source>Notice</source>
        <translation>Hinweis</translation>
    </message>
    <message>
        <source>Copy this message</source>
        <translation>Diese Meldung kopieren</translation>
    </message>
    <message>
        <source>Dismiss this message</source>
        <translation>Diese Meldung ausblenden</translation>
    </message>
    <message>
        <source>The graphics card stopped answering. Load the model again; its layout and your chats are kept.</source>
        <translation>Die Grafikkarte antwortet nicht mehr. Laden Sie das Modell erneut; Platzierung und Chats bleiben erhalten.</translation>
    </message>
    <message>
        <source>This is a fault in Belfry. Copy the %1 into a bug report.</source>
        <translation>Das ist ein Fehler in Belfry. Kopieren Sie in eine Fehlermeldung: %1.</translation>
    </message>
    <message>
        <source>report</source>
        <translation>Bericht</translation>
    </message>
    <message>
        <source>Details</source>
        <translation>Einzelheiten</translation>
    </message>
    <message>
        <source>Show details of the message</source>
        <translation>Einzelheiten der Meldung zeigen</translation>
    </message>
</context>
<context>
    <name>ui::OfferCard</name>
    <message>
        <source>does not fit as it is</source>
        <translation>passt nicht, wie es ist</translation>
    </message>
    <message>
        <source>fits</source>
        <translation>passt</translation>
    </message>
    <message>
        <source>Quantizations</source>
        <translation>Quantisierungen</translation>
    </message>
    <message>
        <source>(here)</source>
        <translation>(hier)</translation>
    </message>
    <message>
        <source>(%1 here)</source>
        <translation>(%1 hier)</translation>
    </message>
    <message numerus="yes">
        <source>and %n more</source>
        <translation>
            <numerusform>und %n weitere</numerusform>
            <numerusform>und %n weitere</numerusform>
        </translation>
    </message>
    <message>
        <source>What if you had …</source>
        <translation>Was, wenn Sie … hätten</translation>
    </message>
    <message>
        <source>A graphics card to plan for</source>
        <translation>Eine Grafikkarte, für die geplant wird</translation>
    </message>
    <message>
        <source>Adapters &amp;for it…</source>
        <translation>Adapter &amp;dafür…</translation>
    </message>
    <message>
        <source>&amp;Open its page in the browser</source>
        <translation>Seite im Browser &amp;öffnen</translation>
    </message>
    <message>
        <source>Up to %1 tokens of context</source>
        <translation>Bis zu %1 Token Kontext</translation>
    </message>
    <message>
        <source>%1 at revision %2 (%3)</source>
        <translation>%1 in Revision %2 (%3)</translation>
    </message>
    <message>
        <source>This computer: %1</source>
        <translation>Dieser Rechner: %1</translation>
    </message>
    <message>
        <source>Belfry cannot use it: %1</source>
        <translation>Belfry kann es nicht verwenden: %1</translation>
    </message>
    <message>
        <source>Goes into %1</source>
        <translation>Kommt nach %1</translation>
    </message>
    <message>
        <source>Asking… &amp;stop</source>
        <translation>Fragt… &amp;stopp</translation>
    </message>
    <message>
        <source>&amp;Try again</source>
        <translation>&amp;Noch einmal</translation>
    </message>
    <message>
        <source>&amp;Look up files and bytes…</source>
        <translation>Dateien und Bytes &amp;nachsehen…</translation>
    </message>
    <message>
        <source>&amp;Load</source>
        <translation>&amp;Laden</translation>
    </message>
    <message>
        <source>&amp;Download %1</source>
        <translation>%1 &amp;herunterladen</translation>
    </message>
    <message>
        <source>&amp;Settings…</source>
        <translation>&amp;Einstellungen…</translation>
    </message>
    <message>
        <source>S&amp;ign in…</source>
        <translation>An&amp;melden…</translation>
    </message>
    <message>
        <source>Is being fetched</source>
        <translation>Wird geholt</translation>
    </message>
    <message>
        <source>Is here</source>
        <translation>Ist hier</translation>
    </message>
    <message>
        <source>&amp;Download %1 all the same</source>
        <translation>Trotzdem %1 &amp;herunterladen</translation>
    </message>
    <message>
        <source>Look at &amp;its base model, %1</source>
        <translation>Sein &amp;Grundmodell ansehen: %1</translation>
    </message>
    <message>
        <source>Read from its files: %1</source>
        <translation>Aus seinen Dateien gelesen: %1</translation>
    </message>
    <message>
        <source>Dra&amp;w what fits…</source>
        <translation>Zei&amp;chnen, was passt…</translation>
    </message>
</context>
<context>
    <name>ui::PictureView</name>
    <message>
        <source>Picture: %1</source>
        <translation>Bild: %1</translation>
    </message>
    <message>
        <source>Reading …</source>
        <translation>Wird gelesen …</translation>
    </message>
    <message>
        <source>Save…</source>
        <translation>Speichern…</translation>
    </message>
    <message>
        <source>Close the picture</source>
        <translation>Das Bild schließen</translation>
    </message>
    <message>
        <source>Back to the chat (Esc)</source>
        <translation>Zurück zum Chat (Esc)</translation>
    </message>
    <message>
        <source>This picture cannot be read.</source>
        <translation>Dieses Bild kann nicht gelesen werden.</translation>
    </message>
    <message>
        <source>%1 × %2 pixels</source>
        <translation>%1 × %2 Pixel</translation>
    </message>
    <message>
        <source>Fit</source>
        <translation>Einpassen</translation>
    </message>
    <message>
        <source>Show every pixel</source>
        <translation>Jedes Pixel zeigen</translation>
    </message>
    <message>
        <source>Fit into the window</source>
        <translation>In das Fenster einpassen</translation>
    </message>
    <message>
        <source>Save the picture</source>
        <translation>Das Bild speichern</translation>
    </message>
    <message>
        <source>Saved</source>
        <translation>Gespeichert</translation>
    </message>
    <message>
        <source>Could not be saved</source>
        <translation>Konnte nicht gespeichert werden</translation>
    </message>
    <message>
        <source>Previous picture</source>
        <translation>Voriges Bild</translation>
    </message>
    <message>
        <source>Previous picture of the chat (Page up)</source>
        <translation>Voriges Bild des Chats (Bild auf)</translation>
    </message>
    <message>
        <source>Next picture</source>
        <translation>Nächstes Bild</translation>
    </message>
    <message>
        <source>Next picture of the chat (Page down)</source>
        <translation>Nächstes Bild des Chats (Bild ab)</translation>
    </message>
    <message>
        <source>Smaller</source>
        <translation>Kleiner</translation>
    </message>
    <message>
        <source>Smaller (−)</source>
        <translation>Kleiner (−)</translation>
    </message>
    <message>
        <source>Larger</source>
        <translation>Größer</translation>
    </message>
    <message>
        <source>Larger (+, or the wheel)</source>
        <translation>Größer (+ oder das Mausrad)</translation>
    </message>
    <message>
        <source>Copy</source>
        <translation>Kopieren</translation>
    </message>
    <message>
        <source>Copy the picture (%1)</source>
        <translation>Das Bild kopieren (%1)</translation>
    </message>
    <message>
        <source>Save the picture (%1)</source>
        <translation>Das Bild speichern (%1)</translation>
    </message>
    <message>
        <source>%1 (%2 of %3)</source>
        <translation>%1 (%2 von %3)</translation>
    </message>
    <message>
        <source>%1 %</source>
        <translation>%1 %</translation>
    </message>
    <message>
        <source>Show every pixel (1)</source>
        <translation>Jeden Bildpunkt zeigen (1)</translation>
    </message>
    <message>
        <source>Fit into the window (0)</source>
        <translation>Ins Fenster einpassen (0)</translation>
    </message>
    <message>
        <source>Copied</source>
        <translation>Kopiert</translation>
    </message>
    <message>
        <source>Actual size</source>
        <translation>Originalgröße</translation>
    </message>
</context>
<context>
    <name>ui::PlanOptionsDialog</name>
    <message>
        <source>Devices and options</source>
        <translation>Geräte und Optionen</translation>
    </message>
    <message>
        <source>none</source>
        <translation>keine</translation>
    </message>
    <message>
        <source>for example sim:0 = 6 GiB</source>
        <translation>zum Beispiel sim:0 = 6 GiB</translation>
    </message>
    <message>
        <source> tokens</source>
        <translation> Token</translation>
    </message>
    <message>
        <source>automatic</source>
        <translation>automatisch</translation>
    </message>
    <message>
        <source>as the table (bf16)</source>
        <translation>wie die Tabelle (bf16)</translation>
    </message>
    <message>
        <source>8 bit</source>
        <translation>8 Bit</translation>
    </message>
    <message>
        <source>4 bit (NF4)</source>
        <translation>4 Bit (NF4)</translation>
    </message>
    <message>
        <source>Simulated GPUs</source>
        <translation>Simulierte GPUs</translation>
    </message>
    <message>
        <source>+ %1 GiB</source>
        <translation>+ %1 GiB</translation>
    </message>
    <message>
        <source>Add a simulated GPU of %1 GiB</source>
        <translation>Simulierte GPU mit %1 GiB hinzufügen</translation>
    </message>
    <message>
        <source>Limits</source>
        <translation>Grenzen</translation>
    </message>
    <message>
        <source>Context</source>
        <translation>Kontext</translation>
    </message>
    <message>
        <source>Precision of the weights</source>
        <translation>Genauigkeit der Gewichte</translation>
    </message>
    <message>
        <source>Precision of the head</source>
        <translation>Genauigkeit des Kopfs</translation>
    </message>
    <message>
        <source>A simulated GPU is a hard memory limit with accounts of its own, computed on the processor: try a split, a limit or an out-of-memory without the card. These options need the model to be loaded again.</source>
        <translation>Eine simulierte GPU ist eine harte Speichergrenze mit eigener Buchführung, gerechnet wird auf dem Prozessor: Aufteilung, Grenze oder Speichermangel ohne die Karte ausprobieren. Diese Optionen brauchen ein neues Laden.</translation>
    </message>
    <message>
        <source>Plan with this</source>
        <translation>Damit planen</translation>
    </message>
    <message>
        <source>Simulated GPUs: expected sizes separated by commas, such as 8 GiB, 512 MiB.</source>
        <translation>Simulierte GPUs: erwartet werden Größen mit Kommas dazwischen, etwa 8 GiB, 512 MiB.</translation>
    </message>
    <message>
        <source>At most %1 simulated GPUs.</source>
        <translation>Höchstens %1 simulierte GPUs.</translation>
    </message>
    <message>
        <source>Limits: expected a device and a size, such as sim:0 = 6 GiB, cpu = 12 GiB.</source>
        <translation>Grenzen: erwartet wird Gerät und Größe, etwa sim:0 = 6 GiB, cpu = 12 GiB.</translation>
    </message>
    <message>
        <source>Limits: there is no %1 here.</source>
        <translation>Grenzen: %1 gibt es hier nicht.</translation>
    </message>
    <message>
        <source>Names: %1</source>
        <translation>Namen: %1</translation>
    </message>
</context>
<context>
    <name>ui::PlanPicture</name>
    <message>
        <source>planned with Belfry</source>
        <translation>geplant mit Belfry</translation>
    </message>
    <message>
        <source>%1 of %2</source>
        <translation>%1 von %2</translation>
    </message>
    <message>
        <source>does not fit</source>
        <translation>passt nicht</translation>
    </message>
    <message>
        <source>about %1 tokens/s</source>
        <translation>etwa %1 Token/s</translation>
    </message>
    <message>
        <source>a picture %1</source>
        <translation>ein Bild %1</translation>
    </message>
</context>
<context>
    <name>ui::ProfileMenu</name>
    <message>
        <source>Profiles of Belfry (*.belfry-profile.json)</source>
        <translation>Profile von Belfry (*.belfry-profile.json)</translation>
    </message>
    <message>
        <source>Pro&amp;files…</source>
        <translation>Pro&amp;file …</translation>
    </message>
    <message>
        <source>Ways to load under a name: map, precision, context, adapters and sampling</source>
        <translation>Arten zu laden unter einem Namen: Karte, Genauigkeit, Kontext, Adapter und Auswahl der Wörter</translation>
    </message>
    <message>
        <source>&amp;Save the present choice…</source>
        <translation>Jetzige Wahl &amp;speichern …</translation>
    </message>
    <message>
        <source>&amp;Import…</source>
        <translation>&amp;Einlesen …</translation>
    </message>
    <message>
        <source>&amp;Export</source>
        <translation>&amp;Ausgeben</translation>
    </message>
    <message>
        <source>&amp;Delete</source>
        <translation>&amp;Löschen</translation>
    </message>
    <message>
        <source>Save as a profile</source>
        <translation>Als Profil speichern</translation>
    </message>
    <message>
        <source>Name, for example “home card” or “laptop”. One of the same name is replaced.</source>
        <translation>Name, zum Beispiel „Karte daheim“ oder „Laptop“. Eines desselben Namens wird ersetzt.</translation>
    </message>
    <message>
        <source>Export the profile %1</source>
        <translation>Profil %1 ausgeben</translation>
    </message>
    <message>
        <source>Import a profile</source>
        <translation>Profil einlesen</translation>
    </message>
</context>
<context>
    <name>ui::RecentModels</name>
    <message>
        <source>%1 in %2</source>
        <translation>%1 in %2</translation>
    </message>
    <message>
        <source>%1 (missing)</source>
        <translation>%1 (fehlt)</translation>
    </message>
    <message>
        <source>%1 in %2, missing</source>
        <translation>%1 in %2, fehlt</translation>
    </message>
    <message>
        <source>%1 on %2</source>
        <translation>%1 auf %2</translation>
    </message>
</context>
<context>
    <name>ui::RecordStrip</name>
    <message>
        <source>Keeping the recording…</source>
        <translation>Aufnahme wird gespeichert…</translation>
    </message>
    <message>
        <source>Opening the microphone…</source>
        <translation>Mikrofon wird geöffnet…</translation>
    </message>
    <message>
        <source>Recording %1 of %2</source>
        <translation>Aufnahme %1 von %2</translation>
    </message>
    <message>
        <source>Use</source>
        <translation>Verwenden</translation>
    </message>
    <message>
        <source>Try again</source>
        <translation>Noch einmal</translation>
    </message>
    <message>
        <source>Use the recording</source>
        <translation>Aufnahme verwenden</translation>
    </message>
    <message>
        <source>Try to record again</source>
        <translation>Noch einmal aufnehmen</translation>
    </message>
    <message>
        <source>End the recording and attach it</source>
        <translation>Aufnahme beenden und anhängen</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>Abbrechen</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>Schließen</translation>
    </message>
    <message>
        <source>Cancel the recording</source>
        <translation>Aufnahme verwerfen</translation>
    </message>
</context>
<context>
    <name>ui::RemovalDialog</name>
    <message>
        <source>Delete a model</source>
        <translation>Ein Modell löschen</translation>
    </message>
    <message>
        <source>Delete %1?</source>
        <translation>%1 löschen?</translation>
    </message>
    <message numerus="yes">
        <source>%1 (%2 bytes) come back to the disk; %n files and folders go:</source>
        <translation>
            <numerusform>%1 (%2 Bytes) werden frei; %n Datei oder Ordner geht:</numerusform>
            <numerusform>%1 (%2 Bytes) werden frei; %n Dateien und Ordner gehen:</numerusform>
        </translation>
    </message>
    <message>
        <source>It is loaded now. It goes on answering until it is ejected, and cannot be loaded again.</source>
        <translation>Es ist gerade geladen. Es antwortet weiter, bis es ausgeworfen wird, und kann nicht mehr geladen werden.</translation>
    </message>
    <message>
        <source>Programs that use the same cache (transformers, vLLM and others) lose it as well.</source>
        <translation>Programme, die denselben Cache benutzen (transformers, vLLM und andere), verlieren es auch.</translation>
    </message>
    <message>
        <source>What else lies there stays: %1</source>
        <translation>Was sonst dort liegt, bleibt: %1</translation>
    </message>
    <message>
        <source>This cannot be undone.</source>
        <translation>Das lässt sich nicht rückgängig machen.</translation>
    </message>
    <message>
        <source>&amp;Keep</source>
        <translation>&amp;Behalten</translation>
    </message>
    <message>
        <source>&amp;Delete</source>
        <translation>&amp;Löschen</translation>
    </message>
</context>
<context>
    <name>ui::ReplyNote</name>
    <message>
        <source>no drafts, as they reached only %1 times the speed</source>
        <translation>ohne Entwürfe, denn mit ihnen war es nur das %1-Fache der Geschwindigkeit</translation>
    </message>
    <message>
        <source>no drafts, as they do not pay here</source>
        <translation>ohne Entwürfe, denn sie lohnen sich hier nicht</translation>
    </message>
    <message>
        <source>%1 tokens a round, %2 % of drafts right</source>
        <translation>%1 Token je Runde, %2 % der Entwürfe richtig</translation>
    </message>
    <message>
        <source>drafts switched themselves off: %1 times the speed without (%2)</source>
        <translation>Entwürfe haben sich abgeschaltet: das %1-Fache der Geschwindigkeit ohne sie (%2)</translation>
    </message>
    <message>
        <source>drafts: %1 times the speed without (%2)</source>
        <translation>Entwürfe: das %1-Fache der Geschwindigkeit ohne sie (%2)</translation>
    </message>
</context>
<context>
    <name>ui::SamplesStrip</name>
    <message>
        <source>Ask: %1</source>
        <translation>Fragen: %1</translation>
    </message>
    <message>
        <source>Ask this with its picture or sound</source>
        <translation>Mit Bild oder Ton fragen</translation>
    </message>
    <message>
        <source>Try one of these</source>
        <translation>Probieren Sie eine davon</translation>
    </message>
</context>
<context>
    <name>ui::SamplingPanel</name>
    <message>
        <source>model&apos;s</source>
        <translation>vom Modell</translation>
    </message>
    <message>
        <source>Save as preset</source>
        <translation>Als Vorgabe sichern</translation>
    </message>
    <message>
        <source>Delete preset</source>
        <translation>Vorgabe löschen</translation>
    </message>
    <message>
        <source>0 always takes the likeliest word</source>
        <translation>0 nimmt immer das wahrscheinlichste Wort</translation>
    </message>
    <message>
        <source>Keep the likeliest words that together reach this share</source>
        <translation>Die wahrscheinlichsten Wörter behalten, die zusammen diesen Anteil erreichen</translation>
    </message>
    <message>
        <source>Drop words below this share of the likeliest one</source>
        <translation>Wörter unter diesem Anteil des wahrscheinlichsten weglassen</translation>
    </message>
    <message>
        <source>Above 1: words already said become less likely</source>
        <translation>Über 1: schon Gesagtes wird unwahrscheinlicher</translation>
    </message>
    <message>
        <source>Let the model think first</source>
        <translation>Das Modell zuerst denken lassen</translation>
    </message>
    <message>
        <source>Choose among this many words; 0 switches it off</source>
        <translation>Unter so vielen Wörtern wählen; 0 schaltet es ab</translation>
    </message>
    <message>
        <source>no limit</source>
        <translation>keine Grenze</translation>
    </message>
    <message>
        <source>new each time</source>
        <translation>jedes Mal neu</translation>
    </message>
    <message>
        <source>Name of a new preset</source>
        <translation>Name der neuen Vorgabe</translation>
    </message>
    <message>
        <source>Preset</source>
        <translation>Vorgabe</translation>
    </message>
    <message>
        <source>Temperature</source>
        <translation>Temperatur</translation>
    </message>
    <message>
        <source>Top k</source>
        <translation>Top k</translation>
    </message>
    <message>
        <source>Top p</source>
        <translation>Top p</translation>
    </message>
    <message>
        <source>Min p</source>
        <translation>Min p</translation>
    </message>
    <message>
        <source>Repetition</source>
        <translation>Wiederholung</translation>
    </message>
    <message>
        <source>Longest reply</source>
        <translation>Längste Antwort</translation>
    </message>
    <message>
        <source>Seed</source>
        <translation>Startwert</translation>
    </message>
    <message>
        <source>Tokens per picture</source>
        <translation>Token je Bild</translation>
    </message>
    <message>
        <source>Custom</source>
        <translation>Eigene</translation>
    </message>
    <message>
        <source>%1 (model&apos;s)</source>
        <translation>%1 (Modell)</translation>
    </message>
    <message>
        <source>Guess ahead with the drafting assistant</source>
        <translation>Mit dem Entwurfs-Assistenten vorausraten</translation>
    </message>
    <message>
        <source>The assistant guesses the next tokens and the model checks several at once. The text is the same; where it is slower, it leaves itself out.</source>
        <translation>Der Assistent rät die nächsten Token, und das Modell prüft mehrere auf einmal. Der Text bleibt derselbe; wo es langsamer ist, setzt er von selbst aus.</translation>
    </message>
</context>
<context>
    <name>ui::ServerDialog</name>
    <message>
        <source>&amp;Allow it without encryption: everybody on the way can read along</source>
        <translation>Ohne Verschlüsselung &amp;erlauben: Alle unterwegs können mitlesen</translation>
    </message>
    <message>
        <source>&amp;Test the connection</source>
        <translation>Verbindung &amp;testen</translation>
    </message>
    <message>
        <source>&amp;Model</source>
        <translation>&amp;Modell</translation>
    </message>
    <message>
        <source>Connect to a server</source>
        <translation>Mit einem Server verbinden</translation>
    </message>
    <message>
        <source>A server with OpenAI&apos;s interface answers in place of this computer: vLLM, SGLang, llama-server, Belfry on another machine. What you write and attach is sent there.</source>
        <translation>Ein Server mit der Schnittstelle von OpenAI antwortet anstelle dieses Computers: vLLM, SGLang, llama-server, Belfry auf einem anderen Rechner. Was Sie schreiben und anhängen, geht dorthin.</translation>
    </message>
    <message>
        <source>A&amp;ddress</source>
        <translation>&amp;Adresse</translation>
    </message>
    <message>
        <source>&amp;Key</source>
        <translation>&amp;Schlüssel</translation>
    </message>
    <message>
        <source>&amp;Connect</source>
        <translation>Verbin&amp;den</translation>
    </message>
    <message>
        <source>Asking the server…</source>
        <translation>Der Server wird gefragt…</translation>
    </message>
    <message>
        <source>%1 (adapter of %2)</source>
        <translation>%1 (Adapter von %2)</translation>
    </message>
    <message>
        <source>%1 (%2 tokens)</source>
        <translation>%1 (%2 Token)</translation>
    </message>
    <message>
        <source>%1 answers, but lists no model.</source>
        <translation>%1 antwortet, nennt aber kein Modell.</translation>
    </message>
    <message>
        <source>%1 answers.</source>
        <translation>%1 antwortet.</translation>
    </message>
    <message>
        <source>%1 answers: %2.</source>
        <translation>%1 antwortet: %2.</translation>
    </message>
    <message>
        <source>Not encrypted: prompts, pictures and the key can be read on the way there. Use it in a network that you trust.</source>
        <translation>Nicht verschlüsselt: Texte, Bilder und der Schlüssel sind auf dem Weg dorthin lesbar. Nur in einem Netz, dem Sie trauen.</translation>
    </message>
    <message>
        <source>A&amp;uthority</source>
        <translation>&amp;Zertifizierungsstelle</translation>
    </message>
    <message>
        <source>A PEM file; the system&apos;s authorities count as well</source>
        <translation>PEM-Datei; die des Systems gelten auch</translation>
    </message>
    <message>
        <source>The certificate of an authority of your own that vouches for this server. Ask whoever runs the server for it.</source>
        <translation>Das Zertifikat einer eigenen Zertifizierungsstelle, die für diesen Server bürgt. Fragen Sie danach, wer den Server betreibt.</translation>
    </message>
    <message>
        <source>Choose…</source>
        <translation>Wählen…</translation>
    </message>
    <message>
        <source>Choose the certificate of an authority</source>
        <translation>Zertifikat einer Zertifizierungsstelle wählen</translation>
    </message>
    <message>
        <source>Certificates (*.pem *.crt *.cer)</source>
        <translation>Zertifikate (*.pem *.crt *.cer)</translation>
    </message>
    <message>
        <source>All files (*)</source>
        <translation>Alle Dateien (*)</translation>
    </message>
    <message>
        <source>&amp;Forget the key</source>
        <translation>Schlüssel &amp;vergessen</translation>
    </message>
    <message>
        <source>The one that is kept</source>
        <translation>Der aufgehobene</translation>
    </message>
    <message>
        <source>None</source>
        <translation>Keiner</translation>
    </message>
    <message>
        <source>A key that you type is kept in the system&apos;s keyring.</source>
        <translation>Ein Schlüssel, den Sie eingeben, liegt dann im Schlüsselbund des Systems.</translation>
    </message>
    <message>
        <source>A key that you type is kept in a file that only you can read: no keyring runs here.</source>
        <translation>Ein Schlüssel, den Sie eingeben, liegt dann in einer Datei, die nur Sie lesen können: Hier läuft kein Schlüsselbund.</translation>
    </message>
</context>
<context>
    <name>ui::ServingDialog</name>
    <message>
        <source>Other programs</source>
        <translation>Andere Programme</translation>
    </message>
    <message>
        <source>Programs that speak to OpenAI&apos;s interface, such as Open WebUI, Continue or LibreChat, can use the model that is loaded here. It stays on this computer: only its own programs get in, and only with the token.</source>
        <translation>Programme, die OpenAIs Schnittstelle sprechen, etwa Open WebUI, Continue oder LibreChat, können das hier geladene Modell benutzen. Es bleibt auf diesem Rechner: Nur seine eigenen Programme kommen herein, und nur mit dem Token.</translation>
    </message>
    <message>
        <source>Let other programs use this model</source>
        <translation>Andere Programme dieses Modell benutzen lassen</translation>
    </message>
    <message>
        <source>Address</source>
        <translation>Adresse</translation>
    </message>
    <message>
        <source>Model name</source>
        <translation>Modellname</translation>
    </message>
    <message>
        <source>Token</source>
        <translation>Token</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>Schließen</translation>
    </message>
    <message>
        <source>Copy</source>
        <translation>Kopieren</translation>
    </message>
    <message>
        <source>Copy: %1</source>
        <translation>Kopieren: %1</translation>
    </message>
    <message>
        <source>Off: no other program gets an answer.</source>
        <translation>Aus: Kein anderes Programm bekommt eine Antwort.</translation>
    </message>
    <message>
        <source>On, but no model is loaded: programs are asked to wait.</source>
        <translation>An, aber es ist kein Modell geladen: Programme werden gebeten zu warten.</translation>
    </message>
    <message>
        <source>Ready.</source>
        <translation>Bereit.</translation>
    </message>
    <message>
        <source>Answering. Waiting: %1.</source>
        <translation>Antwortet. Es warten: %1.</translation>
    </message>
    <message>
        <source>Answering.</source>
        <translation>Antwortet.</translation>
    </message>
    <message>
        <source>Requests answered: %1.</source>
        <translation>Beantwortete Anfragen: %1.</translation>
    </message>
</context>
<context>
    <name>ui::Session</name>
    <message>
        <source>%1, shape only</source>
        <translation>%1, nur die Form</translation>
    </message>
    <message>
        <source>Demo model</source>
        <translation>Demomodell</translation>
    </message>
    <message>
        <source>The adapter cannot be used with this model</source>
        <translation>Der Adapter passt nicht zu diesem Modell</translation>
    </message>
    <message>
        <source>The model was not loaded</source>
        <translation>Das Modell wurde nicht geladen</translation>
    </message>
    <message>
        <source>Nothing was moved; everything is where it was</source>
        <translation>Nichts wurde bewegt; alles ist, wo es war</translation>
    </message>
    <message>
        <source>The layout could not be applied</source>
        <translation>Die Platzierung ließ sich nicht anwenden</translation>
    </message>
    <message>
        <source>The adapters were not changed</source>
        <translation>Die Adapter wurden nicht geändert</translation>
    </message>
    <message>
        <source>The adapter was not added</source>
        <translation>Der Adapter wurde nicht hinzugefügt</translation>
    </message>
    <message>
        <source>%1 is loaded and %2 is chosen. Load it, or go back to %1: an adapter goes to the model that is both.</source>
        <translation>%1 ist geladen und %2 gewählt. Laden Sie es, oder gehen Sie zurück zu %1: Ein Adapter gehört zu dem Modell, das beides ist.</translation>
    </message>
</context>
<context>
    <name>ui::SettingsDialog</name>
    <message>
        <source>Settings</source>
        <translation>Einstellungen</translation>
    </message>
    <message>
        <source>Look</source>
        <translation>Aussehen</translation>
    </message>
    <message>
        <source>As the system</source>
        <translation>Wie das System</translation>
    </message>
    <message>
        <source>Light</source>
        <translation>Hell</translation>
    </message>
    <message>
        <source>Dark</source>
        <translation>Dunkel</translation>
    </message>
    <message>
        <source>&amp;Colours</source>
        <translation>&amp;Farben</translation>
    </message>
    <message>
        <source>Colours</source>
        <translation>Farben</translation>
    </message>
    <message>
        <source> %</source>
        <translation> %</translation>
    </message>
    <message>
        <source>&amp;Text size</source>
        <translation>&amp;Textgröße</translation>
    </message>
    <message>
        <source>Text size in percent</source>
        <translation>Textgröße in Prozent</translation>
    </message>
    <message>
        <source>Used from the next start on</source>
        <translation>Gilt ab dem nächsten Start</translation>
    </message>
    <message>
        <source>&amp;Language (next start)</source>
        <translation>S&amp;prache (nächster Start)</translation>
    </message>
    <message>
        <source>Language, used from the next start</source>
        <translation>Sprache, gilt ab dem nächsten Start</translation>
    </message>
    <message>
        <source>&amp;Placement to start with</source>
        <translation>&amp;Platzierung am Anfang</translation>
    </message>
    <message>
        <source>Placement to start with</source>
        <translation>Platzierung am Anfang</translation>
    </message>
    <message>
        <source>&amp;Weights to start with</source>
        <translation>Ge&amp;wichte am Anfang</translation>
    </message>
    <message>
        <source>Weights to start with</source>
        <translation>Gewichte am Anfang</translation>
    </message>
    <message>
        <source>all</source>
        <translation>alle</translation>
    </message>
    <message>
        <source>P&amp;rocessor threads</source>
        <translation>P&amp;rozessor-Threads</translation>
    </message>
    <message>
        <source>Processor threads</source>
        <translation>Prozessor-Threads</translation>
    </message>
    <message>
        <source>Chats and files</source>
        <translation>Chats und Dateien</translation>
    </message>
    <message>
        <source>&amp;Open the last chat at start</source>
        <translation>&amp;Letzten Chat beim Start öffnen</translation>
    </message>
    <message>
        <source>Chats</source>
        <translation>Chats</translation>
    </message>
    <message>
        <source>Cache, can be deleted</source>
        <translation>Cache, darf gelöscht werden</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>Schließen</translation>
    </message>
    <message>
        <source>Models</source>
        <translation>Modelle</translation>
    </message>
    <message>
        <source>&amp;Keyboard shortcuts…</source>
        <translation>&amp;Tastenkürzel …</translation>
    </message>
    <message>
        <source>See and change the keys of every action</source>
        <translation>Die Tasten jeder Aktion ansehen und ändern</translation>
    </message>
    <message>
        <source>Keep &amp;quantized copies for faster loading</source>
        <translation>&amp;Quantisierte Kopien für schnelleres Laden behalten</translation>
    </message>
    <message>
        <source>Network</source>
        <translation>Netzwerk</translation>
    </message>
    <message>
        <source>Belfry opens a network connection only when you search for a model, get one or choose one on a server. Chats, pictures and sounds stay on this computer; what you write to a server goes there.</source>
        <translation>Belfry verbindet sich nur mit dem Netz, wenn Sie ein Modell suchen, holen oder auf einem Server wählen. Chats, Bilder und Klänge bleiben auf diesem Rechner; was Sie einem Server schreiben, geht dorthin.</translation>
    </message>
    <message>
        <source>&amp;Never use the network</source>
        <translation>Das Netz &amp;nie benutzen</translation>
    </message>
    <message>
        <source>HF_HUB_OFFLINE in the environment forbids it</source>
        <translation>HF_HUB_OFFLINE in der Umgebung verbietet es</translation>
    </message>
    <message>
        <source>For the window and for belfry-cli. A server on this computer may answer all the same.</source>
        <translation>Für das Fenster und für belfry-cli. Ein Server auf diesem Rechner darf trotzdem antworten.</translation>
    </message>
    <message>
        <source>Where models come from: a mirror with Hugging Face&apos;s interface, as HF_ENDPOINT</source>
        <translation>Woher Modelle kommen: ein Spiegel mit der Schnittstelle von Hugging Face, wie HF_ENDPOINT</translation>
    </message>
    <message>
        <source>&amp;Mirror</source>
        <translation>Spie&amp;gel</translation>
    </message>
    <message>
        <source>Mirror</source>
        <translation>Spiegel</translation>
    </message>
    <message>
        <source>as the system says</source>
        <translation>wie das System es sagt</translation>
    </message>
    <message>
        <source>http://host:port or socks5://host:port</source>
        <translation>http://rechner:port oder socks5://rechner:port</translation>
    </message>
    <message>
        <source>Prox&amp;y</source>
        <translation>Prox&amp;y</translation>
    </message>
    <message>
        <source>Proxy</source>
        <translation>Proxy</translation>
    </message>
    <message>
        <source>Re&amp;duce motion</source>
        <translation>Weniger &amp;Bewegung</translation>
    </message>
    <message>
        <source>Blocks, lanes and bars jump to their place instead of moving there</source>
        <translation>Blöcke, Spalten und Balken springen an ihren Platz, statt sich dorthin zu bewegen</translation>
    </message>
</context>
<context>
    <name>ui::ShortcutEditor</name>
    <message>
        <source>&amp;Assign</source>
        <translation>Zu&amp;weisen</translation>
    </message>
    <message>
        <source>&amp;No keys</source>
        <translation>&amp;Keine Tasten</translation>
    </message>
    <message>
        <source>&amp;Usual keys</source>
        <translation>&amp;Übliche Tasten</translation>
    </message>
    <message>
        <source>&amp;Reset all keys</source>
        <translation>Alle Tasten &amp;zurücksetzen</translation>
    </message>
    <message>
        <source>Change keyboard shortcuts</source>
        <translation>Tastenkürzel ändern</translation>
    </message>
    <message>
        <source>Actions and their keys</source>
        <translation>Aktionen und ihre Tasten</translation>
    </message>
    <message>
        <source>New keys</source>
        <translation>Neue Tasten</translation>
    </message>
    <message>
        <source>Press the new keys</source>
        <translation>Neue Tasten drücken</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>Schließen</translation>
    </message>
    <message>
        <source>Choose an action, then press the new keys in the field.</source>
        <translation>Wählen Sie eine Aktion und drücken Sie dann im Feld die neuen Tasten.</translation>
    </message>
    <message>
        <source>These are its keys already.</source>
        <translation>Diese Tasten hat sie schon.</translation>
    </message>
    <message>
        <source>%1 is used by: %2. Assigning takes it from there.</source>
        <translation>%1 gehört zu: %2. Zuweisen nimmt es dort weg.</translation>
    </message>
    <message>
        <source>T&amp;ake over</source>
        <translation>Ü&amp;bernehmen</translation>
    </message>
    <message>
        <source>%1 is free.</source>
        <translation>%1 ist frei.</translation>
    </message>
</context>
<context>
    <name>ui::ShortcutModel</name>
    <message>
        <source>none</source>
        <translation>keine</translation>
    </message>
    <message>
        <source>Action</source>
        <translation>Aktion</translation>
    </message>
    <message>
        <source>Keys</source>
        <translation>Tasten</translation>
    </message>
</context>
<context>
    <name>ui::ShortcutsDialog</name>
    <message>
        <source>Keyboard shortcuts</source>
        <translation>Tastenkürzel</translation>
    </message>
    <message>
        <source>Keys for %1</source>
        <translation>Tasten für %1</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>Schließen</translation>
    </message>
    <message>
        <source>none</source>
        <translation>keine</translation>
    </message>
    <message>
        <source>C&amp;hange…</source>
        <translation>Ä&amp;ndern …</translation>
    </message>
    <message>
        <source>Give actions other keys</source>
        <translation>Aktionen andere Tasten geben</translation>
    </message>
</context>
<context>
    <name>ui::SoundCard</name>
    <message>
        <source>Space plays and pauses, the arrow keys move by a second, Page Up and Page Down by five</source>
        <translation>Leertaste spielt ab und hält an, die Pfeiltasten gehen um eine Sekunde weiter, Bild auf und Bild ab um fünf</translation>
    </message>
    <message>
        <source>Sound %1</source>
        <translation>Ton %1</translation>
    </message>
    <message>
        <source>%1 of %2</source>
        <translation>%1 von %2</translation>
    </message>
    <message>
        <source>%1, playing</source>
        <translation>%1, wird abgespielt</translation>
    </message>
    <message>
        <source>%1: %2 to %3 of %4</source>
        <translation>%1: %2 bis %3 von %4</translation>
    </message>
    <message>
        <source>The file is no longer there.</source>
        <translation>Die Datei ist nicht mehr da.</translation>
    </message>
    <message>
        <source>%1: file not found</source>
        <translation>%1: Datei nicht gefunden</translation>
    </message>
    <message>
        <source>%1: cannot be read</source>
        <translation>%1: nicht lesbar</translation>
    </message>
</context>
<context>
    <name>ui::SoundPlayer</name>
    <message>
        <source>This build of Belfry was made without Qt Multimedia and plays no sound. Open the file in another program.</source>
        <translation>Diese Fassung von Belfry wurde ohne Qt Multimedia gebaut und spielt keinen Ton ab. Öffnen Sie die Datei in einem anderen Programm.</translation>
    </message>
    <message>
        <source>No sound device was found. Connect or switch on a loudspeaker, then press play again.</source>
        <translation>Kein Tongerät gefunden. Schließen Sie einen Lautsprecher an oder schalten Sie ihn ein und spielen Sie dann erneut ab.</translation>
    </message>
    <message>
        <source>The sound device cannot be opened (%1). Choose another one in the system&apos;s settings, then press play again.</source>
        <translation>Das Tongerät lässt sich nicht öffnen (%1). Wählen Sie in den Einstellungen des Systems ein anderes und spielen Sie dann erneut ab.</translation>
    </message>
    <message>
        <source>The sound device is gone. Connect it again or choose another one in the system&apos;s settings, then press play.</source>
        <translation>Das Tongerät ist weg. Schließen Sie es wieder an oder wählen Sie in den Einstellungen des Systems ein anderes und spielen Sie dann erneut ab.</translation>
    </message>
    <message>
        <source>The sound system does not answer. Check that it runs, then press play again.</source>
        <translation>Das Tonsystem antwortet nicht. Prüfen Sie, ob es läuft, und spielen Sie dann erneut ab.</translation>
    </message>
</context>
<context>
    <name>ui::SoundRange</name>
    <message>
        <source>Start of the part that is used</source>
        <translation>Anfang des verwendeten Teils</translation>
    </message>
    <message>
        <source>The arrow keys move the part by a second, Page Up and Page Down by ten</source>
        <translation>Die Pfeiltasten verschieben den Teil um eine Sekunde, Bild auf und Bild ab um zehn</translation>
    </message>
    <message>
        <source>Drag to choose the part that the model hears</source>
        <translation>Ziehen, um den Teil zu wählen, den das Modell hört</translation>
    </message>
    <message>
        <source>%1 to %2 of %3</source>
        <translation>%1 bis %2 von %3</translation>
    </message>
</context>
<context>
    <name>ui::SoundRecorder</name>
    <message>
        <source>This build of Belfry was made without Qt Multimedia and cannot record. Record in another program and attach the file.</source>
        <translation>Diese Fassung von Belfry wurde ohne Qt Multimedia gebaut und kann nicht aufnehmen. Nehmen Sie in einem anderen Programm auf und hängen Sie die Datei an.</translation>
    </message>
    <message>
        <source>No microphone was found. Connect one, or allow it in the system&apos;s privacy settings, then try again.</source>
        <translation>Kein Mikrofon gefunden. Schließen Sie eines an oder erlauben Sie es in den Datenschutz-Einstellungen des Systems und versuchen Sie es dann noch einmal.</translation>
    </message>
    <message>
        <source>The microphone cannot be opened (%1). Allow it in the system&apos;s privacy settings or close the program that uses it, then try again.</source>
        <translation>Das Mikrofon lässt sich nicht öffnen (%1). Erlauben Sie es in den Datenschutz-Einstellungen des Systems oder schließen Sie das Programm, das es benutzt, und versuchen Sie es dann noch einmal.</translation>
    </message>
    <message>
        <source>The microphone is gone: what was recorded until then is kept.</source>
        <translation>Das Mikrofon ist weg: was bis dahin aufgenommen wurde, bleibt erhalten.</translation>
    </message>
    <message>
        <source>The microphone delivers nothing. Check that it is on and allowed in the system&apos;s privacy settings, then try again.</source>
        <translation>Das Mikrofon liefert nichts. Prüfen Sie, ob es eingeschaltet und in den Datenschutz-Einstellungen des Systems erlaubt ist, und versuchen Sie es dann noch einmal.</translation>
    </message>
    <message>
        <source>Nothing was recorded. Keep recording while you speak, then choose Use.</source>
        <translation>Es wurde nichts aufgenommen. Lassen Sie die Aufnahme laufen, während Sie sprechen, und wählen Sie dann Verwenden.</translation>
    </message>
    <message>
        <source>The recording could not be written to %1; check that there is room and the folder can be written.</source>
        <translation>Die Aufnahme konnte nicht nach %1 geschrieben werden; prüfen Sie, ob Platz ist und der Ordner beschreibbar ist.</translation>
    </message>
</context>
<context>
    <name>ui::StatusStrip</name>
    <message>
        <source>Checking</source>
        <translation>Prüfen</translation>
    </message>
    <message>
        <source>Reserving memory</source>
        <translation>Speicher wird belegt</translation>
    </message>
    <message>
        <source>Reading</source>
        <translation>Liest</translation>
    </message>
    <message>
        <source>Moving</source>
        <translation>Bewegt</translation>
    </message>
    <message>
        <source>Loading</source>
        <translation>Lädt</translation>
    </message>
    <message>
        <source>Progress</source>
        <translation>Fortschritt</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>Abbrechen</translation>
    </message>
    <message>
        <source>Stop loading or moving; what was there before stays</source>
        <translation>Laden oder Bewegen anhalten; was vorher da war, bleibt</translation>
    </message>
    <message>
        <source>Load</source>
        <translation>Laden</translation>
    </message>
    <message>
        <source>Load the chosen model</source>
        <translation>Das gewählte Modell laden</translation>
    </message>
    <message>
        <source>Eject</source>
        <translation>Auswerfen</translation>
    </message>
    <message>
        <source>Remove the model from memory</source>
        <translation>Modell aus dem Speicher entfernen</translation>
    </message>
    <message>
        <source>Cannot be used</source>
        <translation>Nicht verwendbar</translation>
    </message>
    <message>
        <source>Reading …</source>
        <translation>Liest …</translation>
    </message>
    <message>
        <source>Not loaded</source>
        <translation>Nicht geladen</translation>
    </message>
    <message>
        <source>Loaded</source>
        <translation>Geladen</translation>
    </message>
    <message>
        <source>Say why</source>
        <translation>Sagen, warum</translation>
    </message>
    <message>
        <source>A reply is being written: stop it first (Esc)</source>
        <translation>Gerade wird eine Antwort geschrieben: erst anhalten (Esc)</translation>
    </message>
    <message>
        <source>%1 %</source>
        <translation>%1 %</translation>
    </message>
    <message>
        <source>nearly done</source>
        <translation>fast fertig</translation>
    </message>
    <message>
        <source>%1 s left</source>
        <translation>noch %1 s</translation>
    </message>
    <message>
        <source>%1 left</source>
        <translation>noch %1</translation>
    </message>
    <message>
        <source>%1/s</source>
        <translation>%1/s</translation>
    </message>
    <message>
        <source>%1 of %2</source>
        <translation>%1 von %2</translation>
    </message>
    <message>
        <source>Loads its model</source>
        <translation>Lädt sein Modell</translation>
    </message>
    <message>
        <source>Refuses</source>
        <translation>Verweigert</translation>
    </message>
    <message>
        <source>Does not answer</source>
        <translation>Antwortet nicht</translation>
    </message>
    <message>
        <source>Network forbidden</source>
        <translation>Netz verboten</translation>
    </message>
    <message>
        <source>Connected</source>
        <translation>Verbunden</translation>
    </message>
    <message>
        <source>Disconnect</source>
        <translation>Trennen</translation>
    </message>
    <message>
        <source>Ask this server nothing more</source>
        <translation>Diesen Server nichts mehr fragen</translation>
    </message>
    <message>
        <source>Connect</source>
        <translation>Verbinden</translation>
    </message>
    <message>
        <source>Let this server answer</source>
        <translation>Diesen Server antworten lassen</translation>
    </message>
    <message>
        <source>Asking …</source>
        <translation>Fragt …</translation>
    </message>
    <message>
        <source>Not connected</source>
        <translation>Nicht verbunden</translation>
    </message>
    <message>
        <source>Connecting</source>
        <translation>Verbindet</translation>
    </message>
    <message>
        <source>%1 tokens</source>
        <translation>%1 Token</translation>
    </message>
    <message>
        <source>Loading again</source>
        <translation>Lädt erneut</translation>
    </message>
    <message>
        <source>Load here</source>
        <translation>Hier laden</translation>
    </message>
    <message>
        <source>Loads the chosen model on this computer, not on the one that the layout looks at</source>
        <translation>Lädt das gewählte Modell auf diesem Rechner, nicht auf dem, den das Layout betrachtet</translation>
    </message>
    <message>
        <source>In use</source>
        <translation>In Gebrauch</translation>
    </message>
    <message>
        <source>Shared</source>
        <translation>Geteilt</translation>
    </message>
    <message>
        <source>Another program is using the model</source>
        <translation>Ein anderes Programm benutzt das Modell</translation>
    </message>
    <message>
        <source>Other programs may use the model</source>
        <translation>Andere Programme dürfen das Modell benutzen</translation>
    </message>
</context>
<context>
    <name>ui::SystemPromptPanel</name>
    <message>
        <source>System prompt: what the model is told before the first message of this chat</source>
        <translation>Systemprompt: was das Modell vor der ersten Nachricht dieses Chats erfährt</translation>
    </message>
    <message>
        <source>System prompt</source>
        <translation>Systemprompt</translation>
    </message>
    <message>
        <source>For example: You answer in short, plain sentences.</source>
        <translation>Zum Beispiel: Du antwortest in kurzen, einfachen Sätzen.</translation>
    </message>
</context>
<context>
    <name>ui::TokenDialog</name>
    <message>
        <source>Sign in with a token</source>
        <translation>Mit einem Token anmelden</translation>
    </message>
    <message>
        <source>%1. Accept the licence of %2 on its page, signed in there.</source>
        <translation>%1. Die Lizenz von %2 auf seiner Seite annehmen, dort angemeldet.</translation>
    </message>
    <message>
        <source>Open the model&apos;s &amp;page in the browser</source>
        <translation>&amp;Seite des Modells im Browser öffnen</translation>
    </message>
    <message>
        <source>%1 is to be had only by who may read it: check the name, or sign in.</source>
        <translation>%1 bekommt nur, wer es lesen darf: Prüfen Sie den Namen, oder melden Sie sich an.</translation>
    </message>
    <message>
        <source>%1. Make a token that may read, on your settings page.</source>
        <translation>%1. Auf Ihrer Einstellungsseite ein Token machen, das lesen darf.</translation>
    </message>
    <message>
        <source>Open the page for &amp;tokens in the browser</source>
        <translation>Seite für &amp;Token im Browser öffnen</translation>
    </message>
    <message>
        <source>%1. Put it in here:</source>
        <translation>%1. Hier eingeben:</translation>
    </message>
    <message>
        <source>Token</source>
        <translation>Token</translation>
    </message>
    <message>
        <source>in place of %1</source>
        <translation>anstelle von %1</translation>
    </message>
    <message>
        <source>It is kept in %1, sent to %2 and to nobody else.</source>
        <translation>Es bleibt in %1, geht an %2 und an niemanden sonst.</translation>
    </message>
    <message>
        <source>&amp;Use it</source>
        <translation>&amp;Benutzen</translation>
    </message>
    <message>
        <source>&amp;Cancel</source>
        <translation>&amp;Abbrechen</translation>
    </message>
    <message>
        <source>&amp;Forget it</source>
        <translation>&amp;Vergessen</translation>
    </message>
</context>
<context>
    <name>ui::UnusablePage</name>
    <message>
        <source>Choose another &amp;folder…</source>
        <translation>Anderen &amp;Ordner wählen …</translation>
    </message>
    <message>
        <source>This folder cannot be used</source>
        <translation>Dieser Ordner ist nicht verwendbar</translation>
    </message>
    <message>
        <source>Try the &amp;demo model</source>
        <translation>&amp;Demomodell ausprobieren</translation>
    </message>
    <message>
        <source>&amp;Server…</source>
        <translation>&amp;Server…</translation>
    </message>
    <message>
        <source>Another address, another key, another model</source>
        <translation>Andere Adresse, anderer Schlüssel, anderes Modell</translation>
    </message>
    <message>
        <source>This server does not answer for the model</source>
        <translation>Dieser Server antwortet nicht für das Modell</translation>
    </message>
    <message>
        <source>&amp;Get a model…</source>
        <translation>Modell &amp;holen…</translation>
    </message>
</context>
<context>
    <name>ui::WelcomePage</name>
    <message>
        <source>Chat with a model on your own hardware</source>
        <translation>Mit einem Modell auf der eigenen Hardware chatten</translation>
    </message>
    <message>
        <source>Drop a Gemma 4 folder here, or choose one. You see every part of it, and drag each to the graphics card, the processor or the disk.</source>
        <translation>Ziehen Sie einen Gemma-4-Ordner hierher oder wählen Sie einen. Sie sehen jeden Teil und ziehen ihn auf Grafikkarte, Prozessor oder Datenträger.</translation>
    </message>
    <message>
        <source>Choose a &amp;folder…</source>
        <translation>&amp;Ordner wählen …</translation>
    </message>
    <message>
        <source>Try the &amp;demo model</source>
        <translation>&amp;Demomodell ausprobieren</translation>
    </message>
    <message>
        <source>Loads the small model that comes with Belfry; it understands pictures and sounds</source>
        <translation>Lädt das kleine Modell, das Belfry beiliegt; es versteht Bilder und Töne</translation>
    </message>
    <message>
        <source>Recent</source>
        <translation>Zuletzt benutzt</translation>
    </message>
    <message>
        <source>Recent models</source>
        <translation>Zuletzt benutzte Modelle</translation>
    </message>
    <message>
        <source>%1 of %2 main memory free</source>
        <translation>%1 von %2 Hauptspeicher frei</translation>
    </message>
    <message>
        <source>%1: %2 of %3 free</source>
        <translation>%1: %2 von %3 frei</translation>
    </message>
    <message>
        <source>&amp;Get a model…</source>
        <translation>Modell &amp;holen…</translation>
    </message>
    <message>
        <source>&amp;Models on this computer</source>
        <translation>&amp;Modelle auf diesem Rechner</translation>
    </message>
    <message>
        <source>Everything stays on this computer: no account, and no network before you ask for a model.</source>
        <translation>Alles bleibt auf diesem Rechner: kein Konto, und kein Netz, bevor Sie ein Modell holen.</translation>
    </message>
    <message>
        <source>&amp;Server…</source>
        <translation>&amp;Server…</translation>
    </message>
    <message>
        <source>Let a model on another computer answer</source>
        <translation>Ein Modell auf einem anderen Computer antworten lassen</translation>
    </message>
</context>
<context>
    <name>ui::WhatIfDialog</name>
    <message>
        <source>A computer of your own</source>
        <translation>Ein eigener Rechner</translation>
    </message>
    <message>
        <source> GiB</source>
        <translation> GiB</translation>
    </message>
    <message>
        <source> GB/s</source>
        <translation> GB/s</translation>
    </message>
    <message>
        <source> TFLOPS</source>
        <translation> TFLOPS</translation>
    </message>
    <message>
        <source>Another card</source>
        <translation>Andere Karte</translation>
    </message>
    <message>
        <source>My computer</source>
        <translation>Mein Rechner</translation>
    </message>
    <message>
        <source>Name</source>
        <translation>Name</translation>
    </message>
    <message>
        <source>Graphics card</source>
        <translation>Grafikkarte</translation>
    </message>
    <message>
        <source>How many</source>
        <translation>Wie viele</translation>
    </message>
    <message>
        <source>Memory of each</source>
        <translation>Speicher je Karte</translation>
    </message>
    <message>
        <source>Memory bandwidth</source>
        <translation>Speicherbandbreite</translation>
    </message>
    <message>
        <source>16-bit arithmetic</source>
        <translation>16-Bit-Rechnung</translation>
    </message>
    <message>
        <source>Main memory</source>
        <translation>Arbeitsspeicher</translation>
    </message>
    <message>
        <source>Of each card 0.6 GiB are taken as used by the desktop and the driver. Speeds are estimates.</source>
        <translation>Von jeder Karte gelten 0,6 GiB als von Desktop und Treiber belegt. Geschwindigkeiten sind Schätzungen.</translation>
    </message>
    <message>
        <source>Plan for it</source>
        <translation>Dafür planen</translation>
    </message>
    <message>
        <source>%1 GiB card</source>
        <translation>Karte mit %1 GiB</translation>
    </message>
    <message>
        <source>not told: what fits only</source>
        <translation>nicht genannt: nur, was passt</translation>
    </message>
</context>
<context>
    <name>ui::WindowSentence</name>
    <message>
        <source>%1: its licence has to be accepted before it can be fetched: open %2 in a browser, accept it there, then use “Sign in…” here</source>
        <translation>%1: Seine Lizenz muss angenommen werden, bevor es geladen werden kann: Öffnen Sie %2 im Browser, nehmen Sie sie dort an und wählen Sie dann hier „Anmelden…“</translation>
    </message>
    <message>
        <source>%1: %2 does not take the token: it is wrong or has expired; make a new one on your settings page there, then use “Sign in…”</source>
        <translation>%1: %2 nimmt das Token nicht an: Es ist falsch oder abgelaufen; erzeugen Sie dort auf Ihrer Einstellungsseite ein neues und wählen Sie dann „Anmelden…“</translation>
    </message>
    <message>
        <source>%1: %2 refuses access to this token: it lacks the permission (a fine-grained token names what it may read); use “Sign in…” with one that has it</source>
        <translation>%1: %2 verweigert diesem Token den Zugang: Ihm fehlt die Berechtigung (ein fein abgestuftes Token nennt, was es lesen darf); wählen Sie „Anmelden…“ mit einem, das sie hat</translation>
    </message>
    <message>
        <source>%1: %2 refuses access; use “Sign in…” if the model is yours</source>
        <translation>%1: %2 verweigert den Zugang; wählen Sie „Anmelden…“, wenn das Modell Ihnen gehört</translation>
    </message>
    <message>
        <source>%1: there is no such model at %2, or it is private: check the name and whose token is used</source>
        <translation>%1: Bei %2 gibt es kein solches Modell, oder es ist privat: Prüfen Sie den Namen und wessen Token verwendet wird</translation>
    </message>
    <message>
        <source>%1: there is no such model at %2, or it is private: check the name, or use “Sign in…” with a token that may read it</source>
        <translation>%1: Bei %2 gibt es kein solches Modell, oder es ist privat: Prüfen Sie den Namen, oder wählen Sie „Anmelden…“ mit einem Token, das es lesen darf</translation>
    </message>
    <message>
        <source>%1 has had too many requests from this address; try again in five minutes, or sign in there with a token</source>
        <translation>%1 hatte zu viele Anfragen von dieser Adresse; versuchen Sie es in fünf Minuten noch einmal, oder melden Sie sich dort mit einem Token an</translation>
    </message>
    <message>
        <source>the address %1 is not encrypted, and a token would be read on the way: use https, or remove the token in the settings</source>
        <translation>die Adresse %1 ist nicht verschlüsselt, und ein Token würde unterwegs gelesen: Verwenden Sie https, oder entfernen Sie das Token in den Einstellungen</translation>
    </message>
    <message>
        <source>the system&apos;s keyring does not answer (%1): unlock it and try again</source>
        <translation>der Schlüsselbund des Systems antwortet nicht (%1): Entsperren Sie ihn und versuchen Sie es noch einmal</translation>
    </message>
    <message>
        <source>there is no place to keep a token in</source>
        <translation>es gibt keinen Ort, an dem ein Token aufbewahrt werden kann</translation>
    </message>
    <message>
        <source>get %1 again: what is there is kept, only the rest is fetched</source>
        <translation>holen Sie %1 noch einmal: Was da ist, bleibt, nur der Rest kommt</translation>
    </message>
    <message>
        <source>get a Gemma 4 model with safetensors: see “Get a model”</source>
        <translation>holen Sie ein Gemma-4-Modell mit safetensors: siehe „Modell holen“</translation>
    </message>
    <message>
        <source>take a LoRA adapter that PEFT has saved</source>
        <translation>nehmen Sie einen LoRA-Adapter, den PEFT gespeichert hat</translation>
    </message>
    <message>
        <source>this model has no tokenizer, so it cannot read text: put its tokenizer.json into the folder and load it again</source>
        <translation>dieses Modell hat keinen Tokenizer und kann deshalb keinen Text lesen: Legen Sie seine tokenizer.json in den Ordner und laden Sie es neu</translation>
    </message>
    <message>
        <source>%1: %2: %3; the folder of models has to be one that you may write to</source>
        <translation>%1: %2: %3; der Ordner der Modelle muss einer sein, in den Sie schreiben dürfen</translation>
    </message>
    <message>
        <source>%1: the disk takes no file of this size (FAT: 4 GiB); the folder of models has to be on another disk</source>
        <translation>%1: Der Datenträger nimmt keine Datei dieser Größe (FAT: 4 GiB); der Ordner der Modelle muss auf einem anderen liegen</translation>
    </message>
    <message>
        <source>not enough room: %1 bytes are missing and %2 shall stay free, the disk has %3 free; make room on it</source>
        <translation>nicht genug Platz: %1 Byte fehlen und %2 sollen frei bleiben, der Datenträger hat %3 frei; schaffen Sie dort Platz</translation>
    </message>
    <message>
        <source>the context is full: %1 tokens are held, %2 more do not fit into %3; start a new chat, or load with a larger “Context”</source>
        <translation>der Kontext ist voll: %1 Token sind darin, %2 weitere passen nicht in %3; beginnen Sie ein neues Gespräch, oder laden Sie mit einem größeren „Kontext“</translation>
    </message>
    <message>
        <source>%1 tokens per picture were asked for; the model was loaded for at most %2: load it again for %3</source>
        <translation>%1 Token je Bild wurden verlangt; das Modell ist für höchstens %2 geladen: Laden Sie es für %3 neu</translation>
    </message>
    <message>
        <source>the picture has %1 × %2 patches, more than the model was loaded for; load it with more tokens per picture</source>
        <translation>das Bild hat %1 × %2 Felder, mehr als das Modell nach dem Laden fasst; laden Sie es mit mehr Token je Bild</translation>
    </message>
    <message>
        <source>a picture has more tokens than are read at once (%1); load the model with more tokens per picture</source>
        <translation>ein Bild hat mehr Token, als auf einmal gelesen werden (%1); laden Sie das Modell mit mehr Token je Bild</translation>
    </message>
    <message>
        <source>“Weights”</source>
        <translation>„Gewichte“</translation>
    </message>
    <message>
        <source>the format of the head</source>
        <translation>das Format des Kopfes</translation>
    </message>
    <message>
        <source>%1 cannot be %2: possible are %3</source>
        <translation>%1 kann nicht %2 sein: Möglich sind %3</translation>
    </message>
    <message>
        <source>the size of blocks cannot be %1: a power of two from 32 to 4096 is possible</source>
        <translation>die Größe der Blöcke kann nicht %1 sein: Möglich ist eine Zweierpotenz von 32 bis 4096</translation>
    </message>
    <message>
        <source>%1; computed once more, every layer gave finite values: a device or its memory may be failing. Try again, or with everything on the CPU</source>
        <translation>%1; noch einmal gerechnet gab jede Schicht endliche Werte: Vielleicht ist ein Gerät oder sein Speicher defekt. Versuchen Sie es noch einmal, oder mit allem auf der CPU</translation>
    </message>
    <message>
        <source>%1, but the model was loaded for text only, without its audio tower: it cannot hear recordings. Turn off “Text only” and load it again</source>
        <translation>%1, aber das Modell ist nur für Text geladen, ohne seinen Audioturm: Es kann keine Aufnahmen hören. Schalten Sie „Nur Text“ aus, und laden Sie es neu</translation>
    </message>
    <message>
        <source>%1, but the model was loaded for text only, without its vision tower: it cannot see pictures. Turn off “Text only” and load it again</source>
        <translation>%1, aber das Modell ist nur für Text geladen, ohne seinen Bildturm: Es kann keine Bilder sehen. Schalten Sie „Nur Text“ aus, und laden Sie es neu</translation>
    </message>
    <message>
        <source>head in 8 bits</source>
        <translation>Kopf in 8 Bit</translation>
    </message>
    <message>
        <source>some accuracy for speed, before what every token reads leaves</source>
        <translation>etwas Genauigkeit gegen Tempo, bevor geht, was jedes Token liest</translation>
    </message>
    <message>
        <source>%1 quantized weights on disk are made anew at every use. “Keep quantized copies” in the settings avoids that.</source>
        <translation>%1 quantisierte Gewichte auf dem Datenträger werden bei jedem Gebrauch neu gemacht. „Quantisierte Kopien behalten“ in den Einstellungen vermeidet das.</translation>
    </message>
    <message>
        <source>The format of the head has no effect: the checkpoint holds the head packed as %1, and it stays so</source>
        <translation>Das Format des Kopfes hat keine Wirkung: Der Checkpoint enthält den Kopf gepackt als %1, und so bleibt er</translation>
    </message>
    <message>
        <source>The format of the head has no effect: the map gives embed_tokens a format, and the head is the same table</source>
        <translation>Das Format des Kopfes hat keine Wirkung: Der Plan gibt embed_tokens ein Format, und der Kopf ist dieselbe Tabelle</translation>
    </message>
    <message>
        <source>1 weight of the checkpoint is packed already and stays as stored; “Weights” applies to the others</source>
        <translation>1 Gewicht des Checkpoints ist schon gepackt und bleibt, wie es ist; „Gewichte“ gilt für die anderen</translation>
    </message>
    <message>
        <source>%1 weights of the checkpoint are packed already and stay as stored; “Weights” applies to the others</source>
        <translation>%1 Gewichte des Checkpoints sind schon gepackt und bleiben, wie sie sind; „Gewichte“ gilt für die anderen</translation>
    </message>
    <message>
        <source>%1 needs %2 but may use %4, %6 too much (%7). The largest parts: %8</source>
        <translation>%1 braucht %2, darf aber %4 belegen, %6 zu viel (%7). Die größten Teile: %8</translation>
    </message>
    <message>
        <source>the memory of a simulated GPU is this computer&apos;s main memory: %1 need %2 of it together but may use %4, %6 too much (%7). The largest parts: %8</source>
        <translation>der Speicher einer simulierten GPU ist der Hauptspeicher dieses Rechners: %1 brauchen davon zusammen %2, dürfen aber %4 belegen, %6 zu viel (%7). Die größten Teile: %8</translation>
    </message>
    <message>
        <source>%1 by the limit that is set</source>
        <translation>%1 durch die gesetzte Grenze</translation>
    </message>
    <message>
        <source>there is a limit for %1, which this computer does not have</source>
        <translation>es gibt eine Grenze für %1; das hat dieser Rechner nicht</translation>
    </message>
    <message>
        <source>the placement %1 needs a GPU, and this computer shows none: use “Everything on the CPU”, or try “Graphics card: Simulated”</source>
        <translation>die Platzierung %1 braucht eine GPU, und dieser Rechner zeigt keine: Nehmen Sie „Alles auf der CPU“, oder versuchen Sie „Grafikkarte: Simuliert“</translation>
    </message>
    <message>
        <source>%1 is a device that Belfry does not have</source>
        <translation>%1 ist ein Gerät, das Belfry nicht hat</translation>
    </message>
    <message>
        <source>this version keeps keys and values in bf16 or q8 and has no other format for them; change kv.format</source>
        <translation>diese Version hält Schlüssel und Werte in bf16 oder q8 und hat kein anderes Format dafür; ändern Sie kv.format</translation>
    </message>
    <message>
        <source>head in 8 bits and %1</source>
        <translation>Kopf in 8 Bit und %1</translation>
    </message>
    <message>
        <source>%1 (the head keeps its own copy)</source>
        <translation>%1 (der Kopf behält eine eigene Kopie)</translation>
    </message>
    <message>
        <source>%1 to %2</source>
        <translation>%1 auf %2</translation>
    </message>
    <message>
        <source>%1 to %3</source>
        <translation>%1 auf %3</translation>
    </message>
    <message>
        <source>weights in %1</source>
        <translation>Gewichte: %1</translation>
    </message>
    <message>
        <source>a context of %1 tokens</source>
        <translation>ein Kontext von %1 Token</translation>
    </message>
    <message>
        <source>read prompts in pieces of %1 tokens</source>
        <translation>Fragen in Stücken von %1 Token lesen</translation>
    </message>
    <message>
        <source>at most %1 tokens per picture</source>
        <translation>höchstens %1 Token je Bild</translation>
    </message>
    <message>
        <source>the folder is not there any more: moved, renamed or deleted</source>
        <translation>den Ordner gibt es nicht mehr: verschoben, umbenannt oder gelöscht</translation>
    </message>
    <message>
        <source>see “Get a model”</source>
        <translation>siehe „Modell holen“</translation>
    </message>
    <message>
        <source>it holds an adapter, no model. Choose the model first, then add this folder with “Adapter”</source>
        <translation>er enthält einen Adapter, kein Modell. Wählen Sie zuerst das Modell und fügen Sie diesen Ordner dann mit „Adapter“ hinzu</translation>
    </message>
    <message>
        <source>what is wanted is in a folder inside it: %2. Choose that one</source>
        <translation>was gesucht ist, liegt in einem Ordner darin: %2. Wählen Sie diesen</translation>
    </message>
    <message>
        <source>get it again: what is there is kept, only the rest is fetched</source>
        <translation>noch einmal holen: Was da ist, bleibt, nur der Rest kommt</translation>
    </message>
    <message>
        <source>it holds a helper for faster decoding, not a model to chat with. Choose the folder of the model that it belongs to.</source>
        <translation>darin liegt ein Hilfsmodell für schnelleres Schreiben, kein Modell zum Chatten. Wählen Sie den Ordner des Modells, zu dem es gehört.</translation>
    </message>
    <message>
        <source>it holds a model of another kind (%2). Belfry runs Gemma 4 (E2B, E4B, 12B, 26B-A4B, 31B) and models of Llama&apos;s form (llama, mistral).</source>
        <translation>darin liegt ein Modell anderer Art (%2). Belfry führt Gemma 4 (E2B, E4B, 12B, 26B-A4B, 31B) und Modelle von Llamas Form (llama, mistral) aus.</translation>
    </message>
    <message>
        <source>The weights stay as they are stored. In 4 bits it would be about %2 tokens/s.</source>
        <translation>Die Gewichte bleiben, wie sie gespeichert sind. In 4 Bit wären es etwa %2 Token/s.</translation>
    </message>
</context>
<context>
    <name>ui::CardBox</name>
    <message>
        <source>Type a part of a name to search</source>
        <translation>Zum Suchen einen Teil des Namens eingeben</translation>
    </message>
    <message>
        <source>Of your own</source>
        <translation>Eigene</translation>
    </message>
</context>
<context>
    <name>ui::CardGroups</name>
    <message>
        <source>GeForce RTX in laptops</source>
        <translation>GeForce RTX in Notebooks</translation>
    </message>
    <message>
        <source>Two cards</source>
        <translation>Zwei Karten</translation>
    </message>
    <message>
        <source>Workstations</source>
        <translation>Workstations</translation>
    </message>
    <message>
        <source>Data centres</source>
        <translation>Rechenzentren</translation>
    </message>
    <message>
        <source>AMD (what fits only)</source>
        <translation>AMD (nur, was passt)</translation>
    </message>
    <message>
        <source>Intel (what fits only)</source>
        <translation>Intel (nur, was passt)</translation>
    </message>
    <message>
        <source>Apple, unified memory (what fits only)</source>
        <translation>Apple, gemeinsamer Speicher (nur, was passt)</translation>
    </message>
    <message>
        <source>%1 · %2</source>
        <translation>%1 · %2</translation>
    </message>
    <message>
        <source>%1 · what fits only</source>
        <translation>%1 · nur, was passt</translation>
    </message>
</context>
<context>
    <name>ui::FitChart</name>
    <message>
        <source>Memory over context, a line for each precision</source>
        <translation>Speicher über dem Kontext, eine Linie je Genauigkeit</translation>
    </message>
    <message>
        <source>%1, %2 tokens: %3</source>
        <translation>%1, %2 Token: %3</translation>
    </message>
    <message>
        <source>The first points are being planned …</source>
        <translation>Die ersten Punkte werden geplant …</translation>
    </message>
    <message>
        <source>tokens of context</source>
        <translation>Token Kontext</translation>
    </message>
    <message>
        <source>%1: %2 usable</source>
        <translation>%1: %2 nutzbar</translation>
    </message>
    <message>
        <source>%1 tokens: %2</source>
        <translation>%1 Token: %2</translation>
    </message>
    <message>
        <source>KV cache in 8 bits</source>
        <translation>KV-Cache in 8 Bit</translation>
    </message>
</context>
<context>
    <name>ui::FitGrid</name>
    <message>
        <source>%1 · KV 8 bits</source>
        <translation>%1 · KV 8 Bit</translation>
    </message>
    <message>
        <source>%1 · KV 16 bits</source>
        <translation>%1 · KV 16 Bit</translation>
    </message>
    <message>
        <source>%1 of %2</source>
        <translation>%1 von %2</translation>
    </message>
    <message>
        <source>does not fit</source>
        <translation>passt nicht</translation>
    </message>
    <message>
        <source>about %1 tokens/s</source>
        <translation>etwa %1 Token/s</translation>
    </message>
</context>
<context>
    <name>ui::FitPage</name>
    <message>
        <source>Model</source>
        <translation>Modell</translation>
    </message>
    <message>
        <source>Graphics card</source>
        <translation>Grafikkarte</translation>
    </message>
    <message>
        <source>This computer</source>
        <translation>Dieser Computer</translation>
    </message>
    <message>
        <source>Copy as &amp;picture</source>
        <translation>Als &amp;Bild kopieren</translation>
    </message>
    <message>
        <source>Copy as &amp;CSV</source>
        <translation>Als &amp;CSV kopieren</translation>
    </message>
    <message>
        <source>The picture is in the clipboard</source>
        <translation>Das Bild ist in der Zwischenablage</translation>
    </message>
    <message numerus="yes">
        <source>%n points are in the clipboard</source>
        <translation>
            <numerusform>%n Punkt ist in der Zwischenablage</numerusform>
            <numerusform>%n Punkte sind in der Zwischenablage</numerusform>
        </translation>
    </message>
    <message>
        <source>Precisions</source>
        <translation>Genauigkeiten</translation>
    </message>
    <message>
        <source>&amp;Make this plan</source>
        <translation>Diesen Plan &amp;machen</translation>
    </message>
    <message>
        <source>%1 on %2</source>
        <translation>%1 auf %2</translation>
    </message>
    <message>
        <source>%1 (not fetched)</source>
        <translation>%1 (nicht geladen)</translation>
    </message>
    <message>
        <source>none</source>
        <translation>keiner</translation>
    </message>
    <message>
        <source>KV 8 bits: %1</source>
        <translation>KV 8 Bit: %1</translation>
    </message>
    <message>
        <source>KV 16 bits: %1</source>
        <translation>KV 16 Bit: %1</translation>
    </message>
    <message>
        <source>%1 % same token</source>
        <translation>%1 % gleiche Token</translation>
    </message>
    <message>
        <source>Choose a model.</source>
        <translation>Wählen Sie ein Modell.</translation>
    </message>
    <message>
        <source>Reading the headers of %1 …</source>
        <translation>Die Kopfdaten von %1 werden gelesen …</translation>
    </message>
    <message numerus="yes">
        <source>Planning from the headers of the files: %n points so far.</source>
        <translation>
            <numerusform>Wird aus den Kopfdaten der Dateien geplant: bisher %n Punkt.</numerusform>
            <numerusform>Wird aus den Kopfdaten der Dateien geplant: bisher %n Punkte.</numerusform>
        </translation>
    </message>
    <message>
        <source>Full points have room on the card, rings need main memory as well, crosses do not fit. Broken lines: KV cache in 8 bits. A click makes that plan.</source>
        <translation>Volle Punkte haben auf der Karte Platz, Ringe brauchen auch Hauptspeicher, Kreuze passen nicht. Gestrichelt: KV-Cache in 8 Bit. Ein Klick macht daraus den Plan.</translation>
    </message>
    <message>
        <source>Belfry does not compute on such a card: no speed is told.</source>
        <translation>Auf einer solchen Karte rechnet Belfry nicht: Kein Tempo wird genannt.</translation>
    </message>
    <message>
        <source>Point at the drawing, or go through it with the arrow keys.</source>
        <translation>Zeigen Sie auf die Zeichnung oder gehen Sie sie mit den Pfeiltasten durch.</translation>
    </message>
    <message>
        <source>%1 · %2 tokens</source>
        <translation>%1 · %2 Token</translation>
    </message>
    <message>
        <source>Fits: about %1 tokens/s (estimated)</source>
        <translation>Passt: etwa %1 Token/s (geschätzt)</translation>
    </message>
    <message>
        <source>Fits.</source>
        <translation>Passt.</translation>
    </message>
    <message>
        <source>Fits with %1 elsewhere: about %2 tokens/s (estimated)</source>
        <translation>Passt, wenn %1 anderswo liegen: etwa %2 Token/s (geschätzt)</translation>
    </message>
    <message>
        <source>Fits with %1 elsewhere.</source>
        <translation>Passt, wenn %1 anderswo liegen.</translation>
    </message>
    <message>
        <source>Does not fit, also with parts in main memory.</source>
        <translation>Passt nicht, auch nicht mit Teilen im Hauptspeicher.</translation>
    </message>
    <message>
        <source>Measured beside 16 bits: %1 % same token, KL %2 (%3)</source>
        <translation>Neben 16 Bit gemessen: %1 % gleiche Token, KL %2 (%3)</translation>
    </message>
    <message>
        <source>together, of %1</source>
        <translation>zusammen, von %1</translation>
    </message>
    <message>
        <source>With the longest context that has room on the card, and what was measured beside 16 bits</source>
        <translation>Mit dem längsten Kontext, der auf der Karte Platz hat, und dem, was neben 16 Bit gemessen wurde</translation>
    </message>
    <message>
        <source>weights</source>
        <translation>Gewichte</translation>
    </message>
    <message>
        <source>copies of experts</source>
        <translation>Kopien von Experten</translation>
    </message>
    <message>
        <source>the same memory as %1</source>
        <translation>derselbe Speicher wie %1</translation>
    </message>
    <message>
        <source>That was with the KV cache in 16 bits.</source>
        <translation>Das war mit dem KV-Cache in 16 Bit.</translation>
    </message>
</context>
</TS>
