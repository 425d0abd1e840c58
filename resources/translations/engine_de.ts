<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="de_DE" sourcelanguage="en">
<context>
    <name>engine::Sentence</name>
    <message>
        <source>%1: expected a list of comparisons; the next compare of belfry-cli writes it anew</source>
        <translation>%1: erwartet wird eine Liste von Vergleichen; das nächste compare von belfry-cli schreibt sie neu</translation>
    </message>
    <message>
        <source>%1: is a GGUF file; adapters are merged into the model&apos;s Hugging Face folder, and applied without merging to this one</source>
        <translation>%1: ist eine GGUF-Datei; Adapter werden in den Hugging-Face-Ordner des Modells eingerechnet und auf diese Datei ohne Einrechnen angewandt</translation>
    </message>
    <message>
        <source>%1 (line %2)</source>
        <translation>%1 (Zeile %2)</translation>
    </message>
    <message>
        <source>%1 and %2 are the same bytes but disagree: %3 is %4, %5 is %6; give both the same place, or ask for two copies with &quot;duplicate_tied&quot;: true</source>
        <translation>%1 und %2 sind dieselben Bytes, widersprechen sich aber: %3 ist %4, %5 ist %6; geben Sie beiden denselben Ort, oder verlangen Sie zwei Kopien mit &quot;duplicate_tied&quot;: true</translation>
    </message>
    <message>
        <source>%1 by --limit</source>
        <translation>%1 durch --limit</translation>
    </message>
    <message>
        <source>%1 by the limits of the map</source>
        <translation>%1 durch die Grenzen des Plans</translation>
    </message>
    <message>
        <source>%1 free</source>
        <translation>%1 frei</translation>
    </message>
    <message>
        <source>%1 in %2 is not a device: expected cpu, disk, cuda:N or sim:N</source>
        <translation>%1 in %2 ist kein Gerät: Erwartet wird cpu, disk, cuda:N oder sim:N</translation>
    </message>
    <message>
        <source>%1 is a device that Belfry does not have; the presets are listed by --help</source>
        <translation>%1 ist ein Gerät, das Belfry nicht hat; --help zählt die Vorgaben auf</translation>
    </message>
    <message>
        <source>%1 is a device, not a map: for everything there give a file with %2</source>
        <translation>%1 ist ein Gerät, kein Plan: Für alles dort nehmen Sie eine Datei mit %2</translation>
    </message>
    <message>
        <source>%1 is a device, not a map: the preset &quot;gpu&quot; puts everything there, and a file with {&quot;&quot;: &quot;cuda:0&quot;} does too</source>
        <translation>%1 ist ein Gerät, kein Plan: Die Vorgabe „gpu“ legt alles dorthin, ebenso eine Datei mit {&quot;&quot;: &quot;cuda:0&quot;}</translation>
    </message>
    <message>
        <source>%1 is accelerate&apos;s word for a placement that is worked out; here that is &quot;fit&quot;</source>
        <translation>%1 heißt bei accelerate eine Platzierung, die ausgerechnet wird; hier ist das „fit“</translation>
    </message>
    <message>
        <source>%1 is no module or tensor of this model</source>
        <translation>%1 ist kein Modul oder Tensor dieses Modells</translation>
    </message>
    <message>
        <source>%1 is not in the library any more; look again</source>
        <translation>%1 ist nicht mehr in der Bibliothek; suchen Sie neu</translation>
    </message>
    <message>
        <source>%1 names %2, which this machine does not have; it has %3, cpu and disk</source>
        <translation>%1 nennt %2; das hat dieser Rechner nicht. Er hat %3, CPU und Festplatte</translation>
    </message>
    <message>
        <source>%1 names %2, which this machine does not have; it has cpu and disk</source>
        <translation>%1 nennt %2; das hat dieser Rechner nicht. Er hat CPU und Festplatte</translation>
    </message>
    <message>
        <source>%1 replaces a base tensor although modules_to_save does not name it</source>
        <translation>%1 ersetzt einen Tensor der Basis, obwohl modules_to_save ihn nicht nennt</translation>
    </message>
    <message>
        <source>%1 tensors compute on another device here: accelerate stores &quot;cpu&quot; and &quot;disk&quot; there but computes on %2, copying the weights for every call</source>
        <translation>%1 Tensoren rechnen hier auf einem anderen Gerät: accelerate speichert „cpu“ und „disk“ dort, rechnet aber auf %2 und kopiert die Gewichte bei jedem Aufruf</translation>
    </message>
    <message>
        <source>%1 tensors compute on another device here: where nothing is stored on a GPU, accelerate computes on cpu</source>
        <translation>%1 Tensoren rechnen hier auf einem anderen Gerät: Wo nichts auf einer GPU liegt, rechnet accelerate auf der CPU</translation>
    </message>
    <message>
        <source>%1 tensors in %2: there what is not quantized has one dtype</source>
        <translation>%1 Tensoren in %2: Was nicht quantisiert ist, hat dort einen einzigen Typ</translation>
    </message>
    <message>
        <source>%1 tensors keep a copy on their computing device here; accelerate copies them for every call</source>
        <translation>%1 Tensoren behalten hier eine Kopie auf dem Gerät, das sie rechnet; accelerate kopiert sie bei jedem Aufruf</translation>
    </message>
    <message>
        <source>%1 weights are stored as W4A16 and keep their codes and scales, as %2: nothing was quantized again</source>
        <translation>%1 Gewichte sind als W4A16 gespeichert und behalten ihre Codes und Skalen, als %2: Nichts wurde noch einmal quantisiert</translation>
    </message>
    <message>
        <source>%1 weights on cpu or disk have 4 bits here: transformers leaves what lies there in bfloat16, %2 instead of %3</source>
        <translation>%1 Gewichte auf CPU oder Festplatte haben hier 4 Bit: transformers lässt in bfloat16, was dort liegt, %2 statt %3</translation>
    </message>
    <message>
        <source>%1 quantized weights stored on disk are made from the checkpoint at every use; a cache keeps them as they are (--cache FOLDER)</source>
        <translation>%1 quantisierte Gewichte auf dem Datenträger werden bei jedem Gebrauch aus dem Checkpoint gemacht; ein Zwischenspeicher bewahrt sie auf (--cache ORDNER)</translation>
    </message>
    <message>
        <source>%1 multiprocessors</source>
        <translation>%1 Multiprozessoren</translation>
    </message>
    <message>
        <source>%1 of %2</source>
        <translation>%1 von %2</translation>
    </message>
    <message>
        <source>%1 stored tensors without effect (%2) were not loaded</source>
        <translation>%1 gespeicherte Tensoren ohne Wirkung (%2) wurden nicht geladen</translation>
    </message>
    <message>
        <source>%1 threads</source>
        <translation>%1 Threads</translation>
    </message>
    <message>
        <source>%1: a weight packed by compressed-tensors breaks the rule %2: expected %3, found %4. Download the model again, or use the 16-bit one.</source>
        <translation>%1: Ein von compressed-tensors gepacktes Gewicht bricht die Regel %2: erwartet wird %3, gefunden: %4. Laden Sie das Modell noch einmal herunter, oder nehmen Sie das mit 16 Bit.</translation>
    </message>
    <message>
        <source>%1: its chat template cannot be compared with the prompt that is used (%2)</source>
        <translation>%1: Seine Chat-Vorlage lässt sich nicht mit dem Prompt vergleichen, der verwendet wird (%2)</translation>
    </message>
    <message>
        <source>%1: its chat template is Google&apos;s of %2; there is a newer one, of %3, and its turns are the ones that are written here</source>
        <translation>%1: die Chat-Vorlage ist die von Google vom %2; es gibt eine neuere, vom %3, und deren Runden werden hier geschrieben</translation>
    </message>
    <message>
        <source>%1: its chat template would write this conversation otherwise: %2 where the prompt that is used has %3</source>
        <translation>%1: Seine Chat-Vorlage würde dieses Gespräch anders schreiben: %2, wo der verwendete Prompt %3 hat</translation>
    </message>
    <message>
        <source>%1: its chat template, Google&apos;s of %2, would write this conversation otherwise than the newer one, of %3, which is used: %4 where the prompt has %5</source>
        <translation>%1: die Chat-Vorlage, die von Google vom %2, würde diese Unterhaltung anders schreiben als die neuere vom %3, die benutzt wird: %4 an der Stelle, an der die Eingabe %5 hat</translation>
    </message>
    <message>
        <source>%1: of what compressed-tensors packs, W4A16 can be read (pack-quantized, 4 bits, symmetric, groups of 32), and this breaks its rule %2: expected %3, found %4. Use a W4A16 model of that form or the 16-bit one.</source>
        <translation>%1: Von dem, was compressed-tensors packt, kann W4A16 gelesen werden (pack-quantized, 4 Bit, symmetrisch, Gruppen von 32), und dies bricht dessen Regel %2: erwartet wird %3, gefunden: %4. Nehmen Sie ein W4A16-Modell dieser Form oder das mit 16 Bit.</translation>
    </message>
    <message>
        <source>%1: re-quantized: %2 weights were not trained for this grid and are rounded to it</source>
        <translation>%1: neu quantisiert: %2 Gewichte wurden nicht für dieses Raster trainiert und sind auf es gerundet</translation>
    </message>
    <message>
        <source>%1: stored as %2, expanded to %3</source>
        <translation>%1: gespeichert als %2, entpackt nach %3</translation>
    </message>
    <message>
        <source>%1: trained grid: %2 weights lie on the grid they were trained for; of their %3 values, %4 are not exactly what the files hold</source>
        <translation>%1: trainiertes Raster: %2 Gewichte liegen auf dem Raster, für das sie trainiert wurden; von ihren %3 Werten sind %4 nicht genau die der Dateien</translation>
    </message>
    <message>
        <source>%1: unknown member of its quantization state: %2</source>
        <translation>%1: unbekanntes Feld in seinem Zustand der Quantisierung: %2</translation>
    </message>
    <message>
        <source>%1: %2 more unknown members ignored (ST06)</source>
        <translation>%1: %2 weitere unbekannte Einträge werden nicht beachtet (ST06)</translation>
    </message>
    <message>
        <source>%1: a further chat template, chosen by name in transformers; it is not used</source>
        <translation>%1: eine weitere Chat-Vorlage, die in transformers nach Namen gewählt wird; sie wird nicht benutzt</translation>
    </message>
    <message>
        <source>%1: does not look like a Gemma 4 template; it is not used: this prompt is written with &lt;|turn&gt;, the template writes %2. A model that was trained on the template&apos;s turns may answer worse</source>
        <translation>%1: sieht nicht wie eine Chat-Vorlage von Gemma 4 aus und wird nicht benutzt: Prompts werden mit &lt;|turn&gt; geschrieben, die Vorlage schreibt %2. Ein Modell, das auf ihre Form trainiert ist, antwortet vielleicht schlechter</translation>
    </message>
    <message>
        <source>%1: does not name these tensors of its shards, they are ignored: %2</source>
        <translation>%1: nennt diese Tensoren seiner Dateien nicht, sie werden nicht beachtet: %2</translation>
    </message>
    <message>
        <source>%1: hold only their headers, no weights; download the whole files to load them</source>
        <translation>%1: enthalten nur die Köpfe der Dateien, keine Gewichte; laden Sie die ganzen Dateien herunter, um sie zu benutzen</translation>
    </message>
    <message>
        <source>%1: holds only its header, no weights; download the whole file to load it</source>
        <translation>%1: enthält nur den Kopf der Datei, keine Gewichte; laden Sie die ganze Datei herunter, um sie zu benutzen</translation>
    </message>
    <message>
        <source>%1: is used as the output head, as its values are not those of the token embedding, although config.json says that both are one table; &quot;tie_word_embeddings&quot;: false there says what the files hold</source>
        <translation>%1: dient als Kopf, da seine Werte nicht die der Token-Einbettung sind, obwohl config.json sagt, dass beide eine Tabelle sind; &quot;tie_word_embeddings&quot;: false dort sagt, was die Dateien enthalten</translation>
    </message>
    <message>
        <source>%1: metadata.total_size is %2, the tensors have %3 bytes</source>
        <translation>%1: metadata.total_size ist %2, die Tensoren haben %3 Bytes</translation>
    </message>
    <message>
        <source>%1: metadata.total_size is not a plain whole number; it is ignored</source>
        <translation>%1: metadata.total_size ist keine einfache ganze Zahl und wird nicht beachtet</translation>
    </message>
    <message>
        <source>%1: stands for the token embedding, which the files do not hold under its own name (config.json: both are one table)</source>
        <translation>%1: steht für die Token-Einbettung, die die Dateien nicht unter ihrem Namen enthalten (config.json: beide sind eine Tabelle)</translation>
    </message>
    <message>
        <source>%1: tensor %2: element type %3 cannot be read; the tensor is skipped (ST05)</source>
        <translation>%1: Tensor %2: Elemente vom Typ %3 sind nicht lesbar; der Tensor wird übergangen (ST05)</translation>
    </message>
    <message>
        <source>%1: tensor %2: unknown member &quot;%3&quot; ignored (ST06)</source>
        <translation>%1: Tensor %2: der unbekannte Eintrag &quot;%3&quot; wird nicht beachtet (ST06)</translation>
    </message>
    <message>
        <source>%1: the output head is a tensor of its own, not the token embedding</source>
        <translation>%1: Der Kopf ist ein eigener Tensor, nicht die Token-Einbettung</translation>
    </message>
    <message>
        <source>%1; computed once more, every layer gave finite values: a device or its memory may be failing. Try again, or with &quot;--device-map cpu&quot;</source>
        <translation>%1; noch einmal gerechnet gab jede Schicht endliche Werte: Vielleicht ist ein Gerät oder sein Speicher defekt. Versuchen Sie es noch einmal, oder mit &quot;--device-map cpu&quot;</translation>
    </message>
    <message>
        <source>%1; the modules that have tensors in the file are taken as the targeted ones</source>
        <translation>%1; als Ziele gelten die Module, die Tensoren in der Datei haben</translation>
    </message>
    <message>
        <source>%1; the ranks are taken from the shapes of the factors</source>
        <translation>%1; die Ränge werden aus den Formen der Faktoren genommen</translation>
    </message>
    <message>
        <source>%1 lies below the tensor %2, which has no parts; did you mean %2?</source>
        <translation>%1 liegt unter dem Tensor %2, der keine Teile hat; meinten Sie %2?</translation>
    </message>
    <message>
        <source>%1 needs %2 (%3 bytes) but may use %4 (%5 bytes), %6 too much (%7). The largest parts: %8</source>
        <translation>%1 braucht %2 (%3 Byte), darf aber %4 (%5 Byte) belegen, %6 zu viel (%7). Die größten Teile: %8</translation>
    </message>
    <message>
        <source>%1 on %2 %3</source>
        <translation>%1 auf %2 %3</translation>
    </message>
    <message>
        <source>%1 or %2</source>
        <translation>%1 oder %2</translation>
    </message>
    <message>
        <source>%1 points inside a weight: codes and statistics of %2 are one tensor and live on one device; name %2</source>
        <translation>%1 zeigt in ein Gewicht hinein: Codes und Statistik von %2 sind ein Tensor und liegen auf einem Gerät; nennen Sie %2</translation>
    </message>
    <message>
        <source>%1 ranges exist only in maps with &quot;version&quot;: 1</source>
        <translation>%1 Bereiche gibt es nur in Plänen mit &quot;version&quot;: 1</translation>
    </message>
    <message>
        <source>%1 tensors, the first: %2</source>
        <translation>%1 Tensoren, der erste: %2</translation>
    </message>
    <message>
        <source>%1 weights of the checkpoint are packed already and stay as stored; --quant applies to the others</source>
        <translation>%1 Gewichte des Checkpoints sind schon gepackt und bleiben, wie sie sind; --quant gilt für die anderen</translation>
    </message>
    <message>
        <source>%1: %2 less on %3 (%4 remain); %5</source>
        <translation>%1: %2 weniger auf %3 (%4 bleiben); %5</translation>
    </message>
    <message>
        <source>%1: what the driver takes for itself is assumed, not measured (the management library, NVML, does not tell)</source>
        <translation>%1: was der Treiber für sich nimmt, ist angenommen, nicht gemessen (die Verwaltungsbibliothek NVML sagt es nicht)</translation>
    </message>
    <message>
        <source>%1; what is elsewhere is computed faster there</source>
        <translation>%1; was anderswo liegt, wird dort schneller gerechnet</translation>
    </message>
    <message>
        <source>%1 that the system lets this program have</source>
        <translation>%1, die das System diesem Programm lässt</translation>
    </message>
    <message>
        <source>%1, less %2 that the map reserves</source>
        <translation>%1, abzüglich %2, die der Plan frei hält</translation>
    </message>
    <message>
        <source>%1. This is a Python dictionary as print() shows it, not JSON: write the file with json.dump(model.hf_device_map, file), or put double quotes around keys and values</source>
        <translation>%1. Das ist ein Python-Dictionary, wie print() es zeigt, kein JSON: Schreiben Sie die Datei mit json.dump(model.hf_device_map, file), oder setzen Sie doppelte Anführungszeichen um Schlüssel und Werte</translation>
    </message>
    <message>
        <source>%1: expected %2, found %3</source>
        <translation>%1: erwartet: %2, gefunden: %3</translation>
    </message>
    <message>
        <source>%1; did you mean %2?</source>
        <translation>%1; meinten Sie %2?</translation>
    </message>
    <message>
        <source>%1; ranges exist only in maps with &quot;version&quot;: 1</source>
        <translation>%1; Bereiche gibt es nur in Plänen mit &quot;version&quot;: 1</translation>
    </message>
    <message>
        <source>%1; valid numbers for %2 are 0 to %3</source>
        <translation>%1; gültige Nummern für %2 sind 0 bis %3</translation>
    </message>
    <message>
        <source>&apos;,&apos; or &apos;]&apos;</source>
        <translation>„,“ oder „]“</translation>
    </message>
    <message>
        <source>&apos;,&apos; or &apos;}&apos;</source>
        <translation>„,“ oder „}“</translation>
    </message>
    <message>
        <source>&apos;:&apos; after %1</source>
        <translation>„:“ nach %1</translation>
    </message>
    <message>
        <source>&quot;%1&quot; between values that have no such operation</source>
        <translation>&quot;%1&quot; zwischen Werten, die diese Operation nicht haben</translation>
    </message>
    <message>
        <source>&quot;%1&quot; is missing</source>
        <translation>&quot;%1&quot; fehlt</translation>
    </message>
    <message>
        <source>&quot;%1&quot; is not a known initialisation; whether it changed the base weights cannot be told</source>
        <translation>&quot;%1&quot; ist keine bekannte Art der Initialisierung; ob sie die Basisgewichte verändert hat, lässt sich nicht sagen</translation>
    </message>
    <message>
        <source>&quot;%1&quot; replaced the base weights while training; the adapter is right only on that changed base. Ask its author for a converted adapter, or allow it if the loaded base is the changed one</source>
        <translation>&quot;%1&quot; hat beim Training die Basisgewichte ersetzt; der Adapter stimmt nur auf dieser veränderten Basis. Bitten Sie, wer ihn gemacht hat, um einen umgewandelten Adapter, oder lassen Sie ihn zu, wenn die geladene Basis die veränderte ist</translation>
    </message>
    <message>
        <source>&quot;cpu&quot;, &quot;cuda:N&quot; or &quot;sim:N&quot; (nothing computes on disk)</source>
        <translation>&quot;cpu&quot;, &quot;cuda:N&quot; oder &quot;sim:N&quot; (nichts rechnet auf der Festplatte)</translation>
    </message>
    <message>
        <source>&quot;cpu&quot;, &quot;disk&quot;, &quot;cuda:N&quot; or &quot;sim:N&quot;</source>
        <translation>&quot;cpu&quot;, &quot;disk&quot;, &quot;cuda:N&quot; oder &quot;sim:N&quot;</translation>
    </message>
    <message>
        <source>&quot;cpu&quot;, &quot;disk&quot;, &quot;cuda:N&quot;, &quot;sim:N&quot; or a device number</source>
        <translation>&quot;cpu&quot;, &quot;disk&quot;, &quot;cuda:N&quot;, &quot;sim:N&quot; oder die Nummer eines Geräts</translation>
    </message>
    <message>
        <source>&quot;cpu&quot;, &quot;disk&quot;, &quot;cuda:N&quot;, &quot;sim:N&quot;, a device number from 0 to 63 or an object</source>
        <translation>&quot;cpu&quot;, &quot;disk&quot;, &quot;cuda:N&quot;, &quot;sim:N&quot;, eine Gerätenummer von 0 bis 63 oder ein Objekt</translation>
    </message>
    <message>
        <source>&quot;disk&quot; says where bytes are stored, not what computes</source>
        <translation>&quot;disk&quot; sagt, wo Bytes liegen, nicht, was rechnet</translation>
    </message>
    <message>
        <source>&quot;LORA&quot;</source>
        <translation>&quot;LORA&quot;</translation>
    </message>
    <message>
        <source>&quot;bfloat16&quot;, &quot;float16&quot; or &quot;float32&quot;</source>
        <translation>&quot;bfloat16&quot;, &quot;float16&quot; oder &quot;float32&quot;</translation>
    </message>
    <message>
        <source>&quot;in&quot; on what holds nothing</source>
        <translation>&quot;in&quot; bei etwas, das nichts enthält</translation>
    </message>
    <message>
        <source>&quot;nf4&quot; or &quot;fp4&quot;</source>
        <translation>&quot;nf4&quot; oder &quot;fp4&quot;</translation>
    </message>
    <message>
        <source>&quot;none&quot;, &quot;all&quot; or &quot;lora_only&quot;</source>
        <translation>&quot;none&quot;, &quot;all&quot; oder &quot;lora_only&quot;</translation>
    </message>
    <message>
        <source>%1 %2 is too short: it makes no soft token</source>
        <translation>%1 %2 ist zu kurz: Es ergibt kein Token</translation>
    </message>
    <message>
        <source>%1 %2: expected one of %3</source>
        <translation>%1 %2: erwartet wird eines von %3</translation>
    </message>
    <message>
        <source>%1 (and %2 more)</source>
        <translation>%1 (und %2 weitere)</translation>
    </message>
    <message>
        <source>%1 (at byte %2)</source>
        <translation>%1 (bei Byte %2)</translation>
    </message>
    <message>
        <source>%1 Make the plan again for this model.</source>
        <translation>%1 Machen Sie den Plan für dieses Modell neu.</translation>
    </message>
    <message>
        <source>%1 and %2</source>
        <translation>%1 und %2</translation>
    </message>
    <message>
        <source>%1 and %2 more</source>
        <translation>%1 und %2 weitere</translation>
    </message>
    <message>
        <source>%1 at byte %2</source>
        <translation>%1 bei Byte %2</translation>
    </message>
    <message>
        <source>%1 at entry %2</source>
        <translation>%1 bei Eintrag %2</translation>
    </message>
    <message>
        <source>%1 belongs to a packed weight</source>
        <translation>%1 gehört zu einem gepackten Gewicht</translation>
    </message>
    <message>
        <source>%1 bytes of codes</source>
        <translation>%1 Bytes Codes</translation>
    </message>
    <message>
        <source>%1 bytes, %2</source>
        <translation>%1 Bytes, %2</translation>
    </message>
    <message>
        <source>%1 cannot be opened: %2</source>
        <translation>%1 lässt sich nicht öffnen: %2</translation>
    </message>
    <message>
        <source>%1 failed while weights were copied to it</source>
        <translation>%1 versagte, während Gewichte dorthin kopiert wurden</translation>
    </message>
    <message>
        <source>%1 failed while weights were moved</source>
        <translation>%1 versagte, während Gewichte verschoben wurden</translation>
    </message>
    <message>
        <source>%1 file is truncated: its &apos;%2&apos; chunk declares %3 bytes, the file has %4 left</source>
        <translation>%1-Datei ist abgeschnitten: Ihr Abschnitt &apos;%2&apos; gibt %3 Bytes an, die Datei hat noch %4</translation>
    </message>
    <message>
        <source>%1 has no content of 1 to %2 bytes</source>
        <translation>%1 hat keinen Inhalt von 1 bis %2 Bytes</translation>
    </message>
    <message>
        <source>%1 has no id</source>
        <translation>%1 hat keine Nummer</translation>
    </message>
    <message>
        <source>%1 has no room for %2: %3 asked, %4 free of %5. Move parts to another device, choose a smaller context or a smaller format.</source>
        <translation>%1 hat keinen Platz für %2: verlangt %3, frei %4 von %5. Verschieben Sie Teile auf ein anderes Gerät, oder wählen Sie einen kleineren Kontext oder ein kleineres Format.</translation>
    </message>
    <message>
        <source>%1 has no room for %2: %3 asked. Move parts to another device, choose a smaller context or a smaller format.</source>
        <translation>%1 hat keinen Platz für %2: verlangt %3. Verschieben Sie Teile auf ein anderes Gerät, oder wählen Sie einen kleineren Kontext oder ein kleineres Format.</translation>
    </message>
    <message>
        <source>%1 has the id %2, expected a whole number from 0 to %3</source>
        <translation>%1 hat die Nummer %2, erwartet wird eine ganze Zahl von 0 bis %3</translation>
    </message>
    <message>
        <source>%1 ids in trainable_token_indices, rows of %2</source>
        <translation>%1 Nummern in trainable_token_indices, Zeilen von %2</translation>
    </message>
    <message>
        <source>%1 image tokens were asked for; the model was loaded for at most %2, load again with --image-tokens %3</source>
        <translation>%1 Token je Bild wurden verlangt; das Modell ist für höchstens %2 geladen, laden Sie neu mit --image-tokens %3</translation>
    </message>
    <message>
        <source>%1 is %2; expected a finite number. The file is damaged or its training had diverged: download it again, or take another checkpoint</source>
        <translation>%1 ist %2; erwartet wird eine endliche Zahl. Die Datei ist beschädigt, oder ihr Training war aus dem Ruder gelaufen: Laden Sie sie noch einmal herunter, oder nehmen Sie einen anderen Checkpoint</translation>
    </message>
    <message>
        <source>%1 is planned to be stored on %2 and computed on %3; only cpu and disk store for others.</source>
        <translation>%1 soll laut Plan auf %2 liegen und auf %3 rechnen; nur CPU und Datenträger lagern für andere.</translation>
    </message>
    <message>
        <source>%1 is planned to compute on disk, which cannot compute.</source>
        <translation>%1 soll laut Plan auf dem Datenträger rechnen, der nicht rechnen kann.</translation>
    </message>
    <message>
        <source>%1 is stored as %2</source>
        <translation>%1 ist als %2 gespeichert</translation>
    </message>
    <message>
        <source>%1 needs %2 bytes as %3, the plan says %4.</source>
        <translation>%1 braucht %2 Bytes als %3, der Plan sagt %4.</translation>
    </message>
    <message>
        <source>%1 of the model</source>
        <translation>%1 des Modells</translation>
    </message>
    <message>
        <source>%1 of the module is missing</source>
        <translation>%1 des Moduls fehlt</translation>
    </message>
    <message>
        <source>%1 such keys</source>
        <translation>%1 solche Schlüssel</translation>
    </message>
    <message>
        <source>%1 token ids, at most %2 are read</source>
        <translation>%1 Tokennummern, gelesen werden höchstens %2</translation>
    </message>
    <message>
        <source>%1 twice</source>
        <translation>%1 zweimal</translation>
    </message>
    <message>
        <source>%1 with %2 entries</source>
        <translation>%1 mit %2 Einträgen</translation>
    </message>
    <message>
        <source>%1, but %2 is; if it is the adapter, rename it to adapter_model.safetensors</source>
        <translation>%1, wohl aber %2; wenn das der Adapter ist, benennen Sie es in adapter_model.safetensors um</translation>
    </message>
    <message>
        <source>%1, but adapter_config.json is: this is an adapter. Open its base model and add the adapter to it</source>
        <translation>%1, wohl aber adapter_config.json: Das ist ein Adapter. Öffnen Sie sein Basismodell und fügen Sie den Adapter hinzu</translation>
    </message>
    <message>
        <source>%1, but adapters.safetensors is, as mlx-lm calls it; if PEFT wrote the file, rename it to adapter_model.safetensors</source>
        <translation>%1, wohl aber adapters.safetensors, wie mlx-lm es nennt; wenn PEFT die Datei geschrieben hat, benennen Sie sie in adapter_model.safetensors um</translation>
    </message>
    <message>
        <source>%1, but config.json is: this is a model, not an adapter. Open it as the model</source>
        <translation>%1, wohl aber config.json: Das ist ein Modell, kein Adapter. Öffnen Sie es als Modell</translation>
    </message>
    <message>
        <source>%1: %2 bytes, at most %3 are read</source>
        <translation>%1: %2 Bytes, gelesen werden höchstens %3</translation>
    </message>
    <message>
        <source>%1: %2 is %3, expected true or false</source>
        <translation>%1: %2 ist %3, erwartet wird true oder false</translation>
    </message>
    <message>
        <source>%1: %2 modules that adapter_config.json targets have no tensors (first: %3), and with init_lora_weights false they would be random noise</source>
        <translation>%1: %2 Module, auf die adapter_config.json zielt, haben keine Tensoren (das erste: %3), und mit init_lora_weights false wären sie zufälliges Rauschen</translation>
    </message>
    <message>
        <source>%1: %2 was not loaded when the adapter was added; remove the adapter and add it again</source>
        <translation>%1: %2 war nicht geladen, als der Adapter hinzugefügt wurde; entfernen Sie den Adapter und fügen Sie ihn wieder hinzu</translation>
    </message>
    <message>
        <source>%1: %2: output %3 of %4 has norm %5 with the update added, so that its magnitude cannot be scaled</source>
        <translation>%1: %2: Ausgang %3 von %4 hat mit dem Zusatz die Norm %5, so dass sich seine Größe nicht skalieren lässt</translation>
    </message>
    <message>
        <source>%1: %2: the layer has no bias that could hold the bias of lora_B; use the adapter unmerged</source>
        <translation>%1: %2: Die Schicht hat keine Verschiebung (bias), die die von lora_B aufnehmen könnte; nehmen Sie den Adapter unverschmolzen</translation>
    </message>
    <message>
        <source>%1: %2; merging into packed weights rounds the adapter away. Merge into the 16-bit model and quantize the result</source>
        <translation>%1: %2; in gepackten Gewichten ginge der Adapter beim Runden verloren. Verschmelzen Sie mit dem 16-Bit-Modell und quantisieren Sie das Ergebnis</translation>
    </message>
    <message>
        <source>%1: a Python pickle file can run code when it is read and is never opened; convert the adapter to adapter_model.safetensors (PEFT: load it and call save_pretrained)</source>
        <translation>%1: Eine Pickle-Datei von Python kann beim Lesen Programme ausführen und wird nie geöffnet; wandeln Sie den Adapter in adapter_model.safetensors um (PEFT: laden und save_pretrained aufrufen)</translation>
    </message>
    <message>
        <source>%1: a norm weight cannot be quantized</source>
        <translation>%1: Das Gewicht einer Norm lässt sich nicht quantisieren</translation>
    </message>
    <message>
        <source>%1: a range outside the tensor was asked for</source>
        <translation>%1: Verlangt wurde ein Bereich außerhalb des Tensors</translation>
    </message>
    <message>
        <source>%1: cannot be copied: %2</source>
        <translation>%1: lässt sich nicht kopieren: %2</translation>
    </message>
    <message>
        <source>%1: cannot be created: %2</source>
        <translation>%1: lässt sich nicht anlegen: %2</translation>
    </message>
    <message>
        <source>%1: cannot be listed: %2</source>
        <translation>%1: lässt sich nicht auflisten: %2</translation>
    </message>
    <message>
        <source>%1: is an address, expected the path of a file; give the path of a copy on this computer</source>
        <translation>%1: ist eine Adresse, erwartet wird der Pfad einer Datei; geben Sie den Pfad einer Kopie auf diesem Computer an</translation>
    </message>
    <message>
        <source>%1: is a data: address, expected the path of a file; save what it holds as a file and give its path</source>
        <translation>%1: ist eine data:-Adresse, erwartet wird der Pfad einer Datei; speichern Sie den Inhalt als Datei und geben Sie deren Pfad an</translation>
    </message>
    <message>
        <source>%1: cannot be opened: no such file; check the folder and the spelling</source>
        <translation>%1: lässt sich nicht öffnen: Eine solche Datei gibt es nicht; prüfen Sie Ordner und Schreibweise</translation>
    </message>
    <message>
        <source>%1: changed while it was read; ask again</source>
        <translation>%1: wurde beim Lesen verändert; fragen Sie noch einmal</translation>
    </message>
    <message>
        <source>%1: changed while the model was merged</source>
        <translation>%1: wurde verändert, während das Modell verschmolzen wurde</translation>
    </message>
    <message>
        <source>%1: could not be read to its end</source>
        <translation>%1: ließ sich nicht bis zum Ende lesen</translation>
    </message>
    <message>
        <source>%1: element %2 is %3, f16 holds finite values up to 65504; give it &quot;format&quot;: &quot;bf16&quot; or leave it as stored</source>
        <translation>%1: Element %2 ist %3, f16 fasst endliche Werte bis 65504; geben Sie ihm &quot;format&quot;: &quot;bf16&quot; oder lassen Sie es, wie es gespeichert ist</translation>
    </message>
    <message>
        <source>%1: element %2 is %3, so that %4 cannot be computed; a weight must be a finite number. The file is damaged or its training had diverged: download it again, or take another checkpoint</source>
        <translation>%1: Element %2 ist %3, so dass sich das nicht berechnen lässt: %4; ein Gewicht muss eine endliche Zahl sein. Die Datei ist beschädigt, oder ihr Training war aus dem Ruder gelaufen: Laden Sie sie noch einmal herunter, oder nehmen Sie einen anderen Checkpoint</translation>
    </message>
    <message>
        <source>%1: element %2 is %3; expected a finite number. The file is damaged or its training had diverged: download it again, or take another checkpoint</source>
        <translation>%1: Element %2 ist %3; erwartet wird eine endliche Zahl. Die Datei ist beschädigt, oder ihr Training war aus dem Ruder gelaufen: Laden Sie sie noch einmal herunter, oder nehmen Sie einen anderen Checkpoint</translation>
    </message>
    <message>
        <source>%1: element %2 is infinite or not a number; only finite weights can be quantized. Load this module unquantized, or get an undamaged copy of the checkpoint.</source>
        <translation>%1: Element %2 ist unendlich oder keine Zahl; nur endliche Gewichte lassen sich quantisieren. Laden Sie dieses Modul unquantisiert, oder beschaffen Sie eine unbeschädigte Kopie des Checkpoints.</translation>
    </message>
    <message>
        <source>%1: blocks of its format reach from one expert into the next; leave it as stored, or ask for another format</source>
        <translation>%1: Blöcke dieses Formats reichen von einem Experten in den nächsten; lassen Sie ihn wie gespeichert, oder verlangen Sie ein anderes Format</translation>
    </message>
    <message>
        <source>%1: has element type %2; Belfry reads BF16, F16 and F32 weights and bitsandbytes&apos; 4-bit and int8 ones</source>
        <translation>%1: hat den Elementtyp %2; Belfry liest Gewichte in BF16, F16 und F32 und die von bitsandbytes mit 4 Bit und int8</translation>
    </message>
    <message>
        <source>%1: has no row %2, it has %3 rows</source>
        <translation>%1: hat keine Zeile %2, sondern %3 Zeilen</translation>
    </message>
    <message>
        <source>%1: has shape %2, config.json makes it %3; model files and config.json belong to different models</source>
        <translation>%1: hat die Form %2, nach config.json ist sie %3; Modelldateien und config.json gehören zu verschiedenen Modellen</translation>
    </message>
    <message>
        <source>%1: holds %2 values, the config implies %3</source>
        <translation>%1: enthält %2 Werte, aus der Konfiguration folgen %3</translation>
    </message>
    <message>
        <source>%1: holds %2, which cannot be read; use the 16-bit model (for MLX the one it was converted from) or a bitsandbytes 4-bit one</source>
        <translation>%1: enthält %2, und das ist nicht lesbar; nehmen Sie das 16-Bit-Modell (bei MLX das, aus dem es entstanden ist) oder eines mit 4 Bit von bitsandbytes</translation>
    </message>
    <message>
        <source>%1: holds %2; adapter configurations are far smaller</source>
        <translation>%1: enthält %2; Konfigurationen von Adaptern sind viel kleiner</translation>
    </message>
    <message>
        <source>%1: holds no tensors</source>
        <translation>%1: enthält keine Tensoren</translation>
    </message>
    <message>
        <source>%1: is packed in 4 bits, but only 2-dimensional .weight tensors can be</source>
        <translation>%1: ist in 4 Bit gepackt, aber das geht nur bei .weight-Tensoren mit zwei Dimensionen</translation>
    </message>
    <message>
        <source>%1: is stored as int8 rows, but has %2 dimensions</source>
        <translation>%1: ist in Zeilen von int8 gespeichert, hat aber %2 Dimensionen</translation>
    </message>
    <message>
        <source>%1: its values are finite, but what it computes is too large for a float or not a number (%2). %3</source>
        <translation>%1: Seine Werte sind endlich, aber was es berechnet, ist zu groß für eine Gleitkommazahl oder keine Zahl (%2). %3</translation>
    </message>
    <message>
        <source>%1: merging gives a value that is not finite</source>
        <translation>%1: Beim Verschmelzen entsteht ein Wert, der nicht endlich ist</translation>
    </message>
    <message>
        <source>%1: merging keeps %2 of the update (%3 to %4 wanted): the update is too small for the type of the weights; use the adapter unmerged</source>
        <translation>%1: Beim Verschmelzen bleiben %2 des Zusatzes (gewünscht %3 bis %4): Der Zusatz ist für den Typ der Gewichte zu klein; nehmen Sie den Adapter unverschmolzen</translation>
    </message>
    <message>
        <source>%1: mixes two spellings of module paths, %2 (%3) and %4 (%5); save the adapter from one model class</source>
        <translation>%1: mischt zwei Schreibweisen der Modulpfade, %2 (%3) und %4 (%5); speichern Sie den Adapter aus einer einzigen Modellklasse</translation>
    </message>
    <message>
        <source>%1: neither a file nor a preset (%2)</source>
        <translation>%1: weder eine Datei noch eine Vorlage (%2)</translation>
    </message>
    <message>
        <source>%1: no page-locked memory for the decode step</source>
        <translation>%1: kein fest im Speicher gehaltener Platz für den Dekodierschritt</translation>
    </message>
    <message>
        <source>%1: none of its %2 tensors would act</source>
        <translation>%1: keiner der %2 Tensoren würde wirken</translation>
    </message>
    <message>
        <source>%1: not a readable file</source>
        <translation>%1: keine lesbare Datei</translation>
    </message>
    <message>
        <source>%1: not all weights are in the folder; a plan can be made, a load cannot</source>
        <translation>%1: Nicht alle Gewichte sind im Ordner; planen geht, laden nicht</translation>
    </message>
    <message>
        <source>%1: not found in %2</source>
        <translation>%1: nicht zu finden in %2</translation>
    </message>
    <message>
        <source>%1: only %2 of %3 tensors find a module in this model (first without: %4); %5</source>
        <translation>%1: nur %2 von %3 Tensoren finden in diesem Modell ein Modul (der erste ohne: %4); %5</translation>
    </message>
    <message>
        <source>%1: quantized weight breaks the rule %2: expected %3, found %4. Download the checkpoint again, or quantize from the unpacked model.</source>
        <translation>%1: Ein quantisiertes Gewicht bricht die Regel %2: erwartet wird %3, gefunden: %4. Laden Sie den Checkpoint noch einmal herunter, oder quantisieren Sie aus dem ungepackten Modell.</translation>
    </message>
    <message>
        <source>%1: strength %2, expected 0 to 2</source>
        <translation>%1: Stärke %2, erwartet wird 0 bis 2</translation>
    </message>
    <message>
        <source>%1: tensor %2 has an element type that Belfry cannot read; use a bf16, fp16 or fp32 checkpoint</source>
        <translation>%1: Tensor %2 hat einen Elementtyp, den Belfry nicht lesen kann; nehmen Sie einen Checkpoint in bf16, fp16 oder fp32</translation>
    </message>
    <message>
        <source>%1: the KV cache of layer %2 needs %3 bytes, %4 are free; choose a smaller context or move a part away</source>
        <translation>%1: Der KV-Cache von Schicht %2 braucht %3 Bytes, frei sind %4; wählen Sie einen kleineren Kontext oder verschieben Sie einen Teil</translation>
    </message>
    <message>
        <source>%1: the adapter changes it, the model folder lacks it</source>
        <translation>%1: Der Adapter ändert es, im Modellordner fehlt es</translation>
    </message>
    <message>
        <source>%1: the chat template cannot write this conversation (%2)</source>
        <translation>%1: Die Chat-Vorlage kann dieses Gespräch nicht schreiben (%2)</translation>
    </message>
    <message>
        <source>%1: the checkpoint does not hold this tensor</source>
        <translation>%1: Der Checkpoint enthält diesen Tensor nicht</translation>
    </message>
    <message>
        <source>%1: the checkpoint does not hold this tensor; expected shape [%2]</source>
        <translation>%1: Der Checkpoint enthält diesen Tensor nicht; erwartet wird die Form [%2]</translation>
    </message>
    <message>
        <source>%1: the device has no kernel for this</source>
        <translation>%1: Das Gerät hat dafür keinen Kernel</translation>
    </message>
    <message>
        <source>%1: the device has no memory left</source>
        <translation>%1: Das Gerät hat keinen Speicher mehr</translation>
    </message>
    <message>
        <source>%1: the device ran out of memory in step %2; lower the context or move a part to the CPU</source>
        <translation>%1: Dem Gerät ging im Schritt %2 der Speicher aus; verkleinern Sie den Kontext oder verschieben Sie einen Teil auf die CPU</translation>
    </message>
    <message>
        <source>%1: the device stopped answering (%2)</source>
        <translation>%1: Das Gerät antwortet nicht mehr (%2)</translation>
    </message>
    <message>
        <source>%1: the device stopped answering in step %2</source>
        <translation>%1: Das Gerät antwortete im Schritt %2 nicht mehr</translation>
    </message>
    <message>
        <source>%1: the device was lost</source>
        <translation>%1: Das Gerät ging verloren</translation>
    </message>
    <message>
        <source>%1: the file exists already and is not replaced (it may be in use); choose another folder or remove it first</source>
        <translation>%1: Die Datei gibt es schon, und sie wird nicht ersetzt (vielleicht wird sie benutzt); wählen Sie einen anderen Ordner oder entfernen Sie sie zuerst</translation>
    </message>
    <message>
        <source>%1: the files hold it twice, as %2 and as %3; which one is meant cannot be told. Leave one of them out</source>
        <translation>%1: Die Dateien enthalten ihn zweimal, als %2 und als %3; welcher gemeint ist, lässt sich nicht sagen. Lassen Sie einen davon weg</translation>
    </message>
    <message>
        <source>%1: the finished folder cannot be given its name: %2; choose another</source>
        <translation>%1: Der fertige Ordner kann diesen Namen nicht bekommen: %2; wählen Sie einen anderen</translation>
    </message>
    <message>
        <source>%1: the output folder exists and is not empty, or is no folder; choose a new one</source>
        <translation>%1: Der Zielordner ist da und nicht leer, oder es ist kein Ordner; wählen Sie einen neuen</translation>
    </message>
    <message>
        <source>%1: the recording has %2 seconds, the model hears at most %3; choose a part of it</source>
        <translation>%1: Die Aufnahme hat %2 Sekunden, das Modell hört höchstens %3; wählen Sie einen Teil davon</translation>
    </message>
    <message>
        <source>%1: the tokens %2 and %3 both have the id %4</source>
        <translation>%1: Die Token %2 und %3 haben beide die Nummer %4</translation>
    </message>
    <message>
        <source>%1: the weight files are not in the folder; a plan can be made, a load cannot</source>
        <translation>%1: Die Gewichtsdateien sind nicht im Ordner; planen geht, laden nicht</translation>
    </message>
    <message>
        <source>%1: the workspace needs %2 bytes, %3 are free; lower the prefill chunk or the image token budget</source>
        <translation>%1: Der Arbeitsbereich braucht %2 Bytes, frei sind %3; lesen Sie Prompts in kleineren Stücken oder nehmen Sie weniger Token je Bild</translation>
    </message>
    <message>
        <source>%1: there is no such file in the folder; download it beside the weights</source>
        <translation>%1: Eine solche Datei gibt es nicht im Ordner; laden Sie sie neben die Gewichte herunter</translation>
    </message>
    <message>
        <source>%1: there is no such folder</source>
        <translation>%1: Einen solchen Ordner gibt es nicht</translation>
    </message>
    <message>
        <source>%1: there is no such folder. It looks like the name of a repository on the Hugging Face Hub; %2</source>
        <translation>%1: Einen solchen Ordner gibt es nicht. Es sieht aus wie der Name eines Repositorys auf dem Hugging Face Hub; %2</translation>
    </message>
    <message>
        <source>%1: there is no such tensor</source>
        <translation>%1: Einen solchen Tensor gibt es nicht</translation>
    </message>
    <message>
        <source>%1: this device has no kernel for step %2 in the chosen format</source>
        <translation>%1: Dieses Gerät hat für den Schritt %2 im gewählten Format keinen Kernel</translation>
    </message>
    <message>
        <source>%1: trainable_token_indices names %2, but its trainable_tokens_delta is missing</source>
        <translation>%1: trainable_token_indices nennt %2, aber trainable_tokens_delta dazu fehlt</translation>
    </message>
    <message>
        <source>%1; an adapter folder holds adapter_config.json and adapter_model.safetensors</source>
        <translation>%1; ein Adapterordner enthält adapter_config.json und adapter_model.safetensors</translation>
    </message>
    <message>
        <source>%1; below it there is one in: %2. Choose that folder</source>
        <translation>%1; darunter gibt es eine in: %2. Wählen Sie diesen Ordner</translation>
    </message>
    <message>
        <source>%1; download it</source>
        <translation>%1; laden Sie sie herunter</translation>
    </message>
    <message>
        <source>%1; free memory there or move modules to another device</source>
        <translation>%1; machen Sie dort Speicher frei oder verschieben Sie Module auf ein anderes Gerät</translation>
    </message>
    <message>
        <source>%1; its largest weight is element %2 of %3, %4</source>
        <translation>%1; sein größtes Gewicht ist Element %2 von %3, %4</translation>
    </message>
    <message>
        <source>%1; keep one</source>
        <translation>%1; behalten Sie einen</translation>
    </message>
    <message>
        <source>%1; reload the model, or restart the program if it stays so</source>
        <translation>%1; laden Sie das Modell neu, oder starten Sie das Programm neu, wenn es so bleibt</translation>
    </message>
    <message>
        <source>%1; the former model could not be loaded again: %2</source>
        <translation>%1; das frühere Modell ließ sich nicht wieder laden: %2</translation>
    </message>
    <message>
        <source>%1; the former placement could not be restored: %2</source>
        <translation>%1; die frühere Platzierung ließ sich nicht wiederherstellen: %2</translation>
    </message>
    <message>
        <source>%1; the largest value it is given is %2</source>
        <translation>%1; der größte Wert, den es bekommt, ist %2</translation>
    </message>
    <message>
        <source>--head</source>
        <translation>--head</translation>
    </message>
    <message>
        <source>--quant</source>
        <translation>--quant</translation>
    </message>
    <message>
        <source>--head has no effect: the checkpoint holds the head packed as %1, and it stays so</source>
        <translation>--head hat keine Wirkung: Der Checkpoint enthält den Kopf gepackt als %1, und so bleibt er</translation>
    </message>
    <message>
        <source>--head has no effect: the map gives embed_tokens a format, and the head is the same table</source>
        <translation>--head hat keine Wirkung: Der Plan gibt embed_tokens ein Format, und der Kopf ist dieselbe Tabelle</translation>
    </message>
    <message>
        <source>--kv</source>
        <translation>--kv</translation>
    </message>
    <message>
        <source>--limit names %1, which this machine does not have</source>
        <translation>--limit nennt %1; das hat dieser Rechner nicht</translation>
    </message>
    <message>
        <source>--quant-block: expected a power of two from 32 to 4096, found %1</source>
        <translation>--quant-block: erwartet wird eine Zweierpotenz von 32 bis 4096, gefunden: %1</translation>
    </message>
    <message>
        <source>--shape %1: expected e2b, e4b, 12b, 26b or 31b</source>
        <translation>--shape %1: erwartet wird e2b, e4b, 12b, 26b oder 31b</translation>
    </message>
    <message>
        <source>0 (off) or a positive whole number</source>
        <translation>0 (aus) oder eine positive ganze Zahl</translation>
    </message>
    <message>
        <source>0 (row-major)</source>
        <translation>0 (zeilenweise)</translation>
    </message>
    <message>
        <source>1 tensor computes on another device here: accelerate stores &quot;cpu&quot; and &quot;disk&quot; there but computes on %1, copying the weights for every call</source>
        <translation>1 Tensor rechnet hier auf einem anderen Gerät: accelerate speichert „cpu“ und „disk“ dort, rechnet aber auf %1 und kopiert die Gewichte bei jedem Aufruf</translation>
    </message>
    <message>
        <source>1 tensor computes on another device here: where nothing is stored on a GPU, accelerate computes on cpu</source>
        <translation>1 Tensor rechnet hier auf einem anderen Gerät: Wo nichts auf einer GPU liegt, rechnet accelerate auf der CPU</translation>
    </message>
    <message>
        <source>1 tensor in %1: there what is not quantized has one dtype</source>
        <translation>1 Tensor in %1: Was nicht quantisiert ist, hat dort einen einzigen Typ</translation>
    </message>
    <message>
        <source>1 tensor keeps a copy on its computing device here; accelerate copies it for every call</source>
        <translation>1 Tensor behält hier eine Kopie auf dem Gerät, das ihn rechnet; accelerate kopiert ihn bei jedem Aufruf</translation>
    </message>
    <message>
        <source>1 tensor: %1</source>
        <translation>1 Tensor: %1</translation>
    </message>
    <message>
        <source>1 (the only version there is)</source>
        <translation>1 (die einzige Version, die es gibt)</translation>
    </message>
    <message>
        <source>1 to 4096 bytes</source>
        <translation>1 bis 4096 Bytes</translation>
    </message>
    <message>
        <source>1 weight on cpu or disk has 4 bits here: transformers leaves what lies there in bfloat16, %1 instead of %2</source>
        <translation>1 Gewicht auf CPU oder Festplatte hat hier 4 Bit: transformers lässt in bfloat16, was dort liegt, %1 statt %2</translation>
    </message>
    <message>
        <source>1 weight of the checkpoint is packed already and stays as stored; --quant applies to the others</source>
        <translation>1 Gewicht des Checkpoints ist schon gepackt und bleibt, wie es ist; --quant gilt für die anderen</translation>
    </message>
    <message>
        <source>32, 64, 128, 256, 512, 1024, 2048 or 4096</source>
        <translation>32, 64, 128, 256, 512, 1024, 2048 oder 4096</translation>
    </message>
    <message>
        <source>a context of %1 tokens is more than the model has positions for; planned with %2</source>
        <translation>ein Kontext von %1 Token ist mehr, als das Modell fasst; geplant mit %2</translation>
    </message>
    <message>
        <source>adapter weights for %1 are not counted: the plan has no such tensor</source>
        <translation>Gewichte des Adapters für %1 sind nicht mitgezählt: der Plan hat keinen solchen Tensor</translation>
    </message>
    <message>
        <source>adapter %1: %2</source>
        <translation>Adapter %1: %2</translation>
    </message>
    <message>
        <source>adapter %1: %2 of %3 tensors of its file are not applied, the first: %4 (%5)</source>
        <translation>Adapter %1: %2 von %3 Tensoren seiner Datei werden nicht angewandt, der erste: %4 (%5)</translation>
    </message>
    <message>
        <source>a load would fail at %1 more tensors</source>
        <translation>das Laden würde an %1 weiteren Tensoren scheitern</translation>
    </message>
    <message>
        <source>a load would fail: %1</source>
        <translation>das Laden würde scheitern: %1</translation>
    </message>
    <message>
        <source>adapter_config.json: %1 is %2, a member that is not known here; it is ignored, and the adapter may act otherwise than in PEFT</source>
        <translation>adapter_config.json: %1 ist %2, ein hier unbekannter Eintrag; er wird nicht beachtet, und der Adapter wirkt vielleicht anders als in PEFT</translation>
    </message>
    <message>
        <source>a byte that is not UTF-8</source>
        <translation>ein Byte, das kein UTF-8 ist</translation>
    </message>
    <message>
        <source>a control character or line break inside a string</source>
        <translation>ein Steuerzeichen oder Zeilenumbruch in einem Text</translation>
    </message>
    <message>
        <source>a device map is a JSON object, found %1</source>
        <translation>ein Plan ist ein JSON-Objekt; gefunden: %1</translation>
    </message>
    <message>
        <source>a digit</source>
        <translation>eine Ziffer</translation>
    </message>
    <message>
        <source>a member name in double quotes</source>
        <translation>ein Name in doppelten Anführungszeichen</translation>
    </message>
    <message>
        <source>a number must not start with 0</source>
        <translation>eine Zahl darf nicht mit 0 beginnen</translation>
    </message>
    <message>
        <source>a number of tokens, at least 1</source>
        <translation>eine Zahl von Token, mindestens 1</translation>
    </message>
    <message>
        <source>a size such as &quot;6GiB&quot;, &quot;1.5GB&quot;, &quot;512MiB&quot; or bytes</source>
        <translation>eine Größe wie &quot;6GiB&quot;, &quot;1.5GB&quot;, &quot;512MiB&quot; oder Bytes</translation>
    </message>
    <message>
        <source>AIFF header: the &apos;COMM&apos; chunk has %1 bytes, at least 18 are needed</source>
        <translation>AIFF-Header: Der Abschnitt &apos;COMM&apos; hat %1 Bytes, nötig sind mindestens 18</translation>
    </message>
    <message>
        <source>AIFF header: the file ends after %1 bytes without a %2 chunk</source>
        <translation>AIFF-Header: Die Datei endet nach %1 Bytes ohne einen Abschnitt %2</translation>
    </message>
    <message>
        <source>all of this together leaves %1, still %2 too much: %3</source>
        <translation>all das zusammen lässt %1 übrig, immer noch %2 zu viel: %3</translation>
    </message>
    <message>
        <source>an escape of several digits (\%1)</source>
        <translation>eine Escape-Folge aus mehreren Ziffern (\%1)</translation>
    </message>
    <message>
        <source>another tensor of its module is refused</source>
        <translation>ein anderer Tensor seines Moduls wird abgelehnt</translation>
    </message>
    <message>
        <source>asked in %1 s</source>
        <translation>in %1 s gefragt</translation>
    </message>
    <message>
        <source>an integer</source>
        <translation>eine ganze Zahl</translation>
    </message>
    <message>
        <source>at least one member (store, compute, format, residency, ...)</source>
        <translation>mindestens ein Eintrag (store, compute, format, residency ...)</translation>
    </message>
    <message>
        <source>AU header: the file ends after %1 bytes, 24 are needed</source>
        <translation>AU-Header: Die Datei endet nach %1 Bytes, nötig sind 24</translation>
    </message>
    <message>
        <source>AU header: the samples should begin at byte %1 of a file of %2</source>
        <translation>AU-Header: Die Abtastwerte sollen bei Byte %1 beginnen, die Datei hat %2</translation>
    </message>
    <message>
        <source>audio tower to %1</source>
        <translation>Audioturm auf %1</translation>
    </message>
    <message>
        <source>codes of %1 bits</source>
        <translation>Codes von %1 Bit</translation>
    </message>
    <message>
        <source>codes of %1 bits, %2</source>
        <translation>Codes von %1 Bit, %2</translation>
    </message>
    <message>
        <source>costs only with media: 10 s of sound take about %1 instead of %2</source>
        <translation>kostet nur mit Medien: 10 s Ton brauchen etwa %1 statt %2</translation>
    </message>
    <message>
        <source>costs only with media: an image takes about %1 instead of %2</source>
        <translation>kostet nur mit Medien: ein Bild braucht etwa %1 statt %2</translation>
    </message>
    <message>
        <source>default</source>
        <translation>„default“</translation>
    </message>
    <message>
        <source>cache</source>
        <translation>Cache</translation>
    </message>
    <message>
        <source>chats</source>
        <translation>Chats</translation>
    </message>
    <message>
        <source>compute capability %1</source>
        <translation>Compute Capability %1</translation>
    </message>
    <message>
        <source>does not start (answer %1)</source>
        <translation>startet nicht (Antwort %1)</translation>
    </message>
    <message>
        <source>does not tell what is free</source>
        <translation>sagt nicht, was frei ist</translation>
    </message>
    <message>
        <source>both model.safetensors and model.safetensors.index.json exist; the single file is used</source>
        <translation>es gibt sowohl model.safetensors als auch model.safetensors.index.json; benutzt wird die einzelne Datei</translation>
    </message>
    <message>
        <source>by PEFT %1</source>
        <translation>von PEFT %1</translation>
    </message>
    <message>
        <source>config.json: its quantization_config tells which weights are packed in 4 bits, as the weight files are not there to say so</source>
        <translation>config.json: quantization_config darin sagt, welche Gewichte in 4 Bit gepackt sind, da die Dateien mit den Gewichten nicht da sind</translation>
    </message>
    <message>
        <source>compute %1</source>
        <translation>compute %1</translation>
    </message>
    <message>
        <source>default must settle both store and compute: %1 (%2 tensor would have no device)</source>
        <translation>&quot;default&quot; muss store und compute festlegen: %1 (%2 Tensor hätte kein Gerät)</translation>
    </message>
    <message>
        <source>default must settle both store and compute: %1 (%2 tensors would have no device)</source>
        <translation>&quot;default&quot; muss store und compute festlegen: %1 (%2 Tensoren hätten kein Gerät)</translation>
    </message>
    <message>
        <source>DoRA, which PEFT does not have for expert parameters</source>
        <translation>DoRA, das es in PEFT für Parameter von Experten nicht gibt</translation>
    </message>
    <message>
        <source>even this leanest plan is %1 over the limits; it keeps layers in memory: on disk, read anew for every token, only a map puts them</source>
        <translation>selbst diese sparsamste Aufteilung liegt %1 über den Grenzen; sie lässt Schichten im Speicher: auf die Festplatte, wo sie für jedes Token neu gelesen werden, legt sie nur ein eigener Plan</translation>
    </message>
    <message>
        <source>every token reads them</source>
        <translation>jedes Token liest sie</translation>
    </message>
    <message>
        <source>every token reads them, about %1 more per token</source>
        <translation>jedes Token liest sie, etwa %1 mehr pro Token</translation>
    </message>
    <message>
        <source>everything on %1 needs %2 of %3: it fits</source>
        <translation>alles auf %1 braucht %2 von %3: es passt</translation>
    </message>
    <message>
        <source>everything on %1 needs %2 of %3: more than this computer&apos;s memory, which simulated GPUs take theirs from</source>
        <translation>alles auf %1 braucht %2 von %3: mehr als der Arbeitsspeicher dieses Rechners, aus dem simulierte GPUs ihren nehmen</translation>
    </message>
    <message>
        <source>everything on %1 needs %2 of %3: too much</source>
        <translation>alles auf %1 braucht %2 von %3: zu viel</translation>
    </message>
    <message>
        <source>driver</source>
        <translation>Treiber</translation>
    </message>
    <message>
        <source>expected: %1</source>
        <translation>erwartet: %1</translation>
    </message>
    <message>
        <source>ends with a sliding layer; the last layer is always full</source>
        <translation>endet mit einer Schicht mit gleitendem Fenster; die letzte Schicht sieht immer alles</translation>
    </message>
    <message>
        <source>equals the base&apos;s own table</source>
        <translation>gleicht der eigenen Tabelle der Basis</translation>
    </message>
    <message>
        <source>error: %1</source>
        <translation>Fehler: %1</translation>
    </message>
    <message>
        <source>exclude_modules leaves the module out</source>
        <translation>exclude_modules lässt das Modul weg</translation>
    </message>
    <message>
        <source>fan_in_fan_out is true; it has no meaning for linear layers and was reset</source>
        <translation>fan_in_fan_out ist true; für lineare Schichten hat es keine Bedeutung und wurde zurückgesetzt</translation>
    </message>
    <message>
        <source>expanded from %1 to %2: values stay those of the 4-bit weights, only memory grows (%3)</source>
        <translation>von %1 nach %2 entpackt: Die Werte bleiben die der 4-Bit-Gewichte, nur der Speicher wächst (%3)</translation>
    </message>
    <message>
        <source>FLAC header: the file ends after %1 bytes, inside the stream information</source>
        <translation>FLAC-Header: Die Datei endet nach %1 Bytes, innerhalb der Angaben zum Datenstrom</translation>
    </message>
    <message>
        <source>FLAC header: the first block is not a stream information of 34 bytes</source>
        <translation>FLAC-Header: Der erste Block enthält keine 34 Bytes mit Angaben zum Datenstrom</translation>
    </message>
    <message>
        <source>finite scales below 2^125</source>
        <translation>endliche Skalen unter 2^125</translation>
    </message>
    <message>
        <source>groups in the order of the columns, without actorder</source>
        <translation>Gruppen in der Reihenfolge der Spalten, ohne actorder</translation>
    </message>
    <message>
        <source>groups of %1</source>
        <translation>Gruppen von %1</translation>
    </message>
    <message>
        <source>groups of %1, %2</source>
        <translation>Gruppen von %1, %2</translation>
    </message>
    <message>
        <source>head in %1</source>
        <translation>Kopf in %1</translation>
    </message>
    <message>
        <source>head in int8</source>
        <translation>Kopf in 8 Bit</translation>
    </message>
    <message>
        <source>head to %1</source>
        <translation>Kopf auf %1</translation>
    </message>
    <message>
        <source>for %1</source>
        <translation>für %1</translation>
    </message>
    <message>
        <source>Free disk</source>
        <translation>Freier Plattenplatz</translation>
    </message>
    <message>
        <source>Graphics cards</source>
        <translation>Grafikkarten</translation>
    </message>
    <message>
        <source>has not answered for %1 s</source>
        <translation>hat seit %1 s nicht geantwortet</translation>
    </message>
    <message>
        <source>has no members per layer type; it is taken for the full-attention layers</source>
        <translation>hat keine Einträge je Art der Schicht; es gilt für die Schichten, die alles sehen</translation>
    </message>
    <message>
        <source>format %1 is not possible: %2 (%3)</source>
        <translation>das Format %1 ist nicht möglich: %2 (%3)</translation>
    </message>
    <message>
        <source>four hexadecimal digits after \u</source>
        <translation>vier hexadezimale Ziffern nach \u</translation>
    </message>
    <message>
        <source>half of a surrogate pair</source>
        <translation>die Hälfte eines Surrogatpaars</translation>
    </message>
    <message>
        <source>I8 %1</source>
        <translation>I8 %1</translation>
    </message>
    <message>
        <source>ignored: %1</source>
        <translation>weggelassen: %1</translation>
    </message>
    <message>
        <source>in its folder: %1</source>
        <translation>in seinem Ordner: %1</translation>
    </message>
    <message>
        <source>in its folder: %1 (whether the adapter needs further tokens is not known)</source>
        <translation>in seinem Ordner: %1 (ob der Adapter weitere Token braucht, ist nicht bekannt)</translation>
    </message>
    <message>
        <source>inert: %1</source>
        <translation>ohne Wirkung: %1</translation>
    </message>
    <message>
        <source>init_lora_weights is &quot;%1&quot;: accepted on request, right only on the changed base</source>
        <translation>init_lora_weights ist &quot;%1&quot;: auf Wunsch angenommen, stimmt nur auf der veränderten Basis</translation>
    </message>
    <message>
        <source>int8 per row (head) does not exist there</source>
        <translation>int8 je Zeile (Kopf) gibt es dort nicht</translation>
    </message>
    <message>
        <source>is %1, expected %2: of what compressed-tensors writes, W4A16 can be read (pack-quantized, 4 bits, symmetric, groups of 32). Use a W4A16 model of that form or the 16-bit one</source>
        <translation>ist %1, erwartet wird %2: Von dem, was compressed-tensors schreibt, kann W4A16 gelesen werden (pack-quantized, 4 Bit, symmetrisch, Gruppen von 32). Nehmen Sie ein W4A16-Modell dieser Form oder das mit 16 Bit</translation>
    </message>
    <message>
        <source>is &quot;%1&quot;; only checkpoints of bitsandbytes (NF4, FP4) and compressed-tensors (W4A16) and unquantized ones can be read</source>
        <translation>ist &quot;%1&quot;; lesbar sind nur Checkpoints von bitsandbytes (NF4, FP4) und compressed-tensors (W4A16) und unquantisierte</translation>
    </message>
    <message>
        <source>is missing: the weights are read as they are stored</source>
        <translation>fehlt: Die Gewichte werden gelesen, wie sie gespeichert sind</translation>
    </message>
    <message>
        <source>missing</source>
        <translation>nicht da</translation>
    </message>
    <message>
        <source>rows of %1</source>
        <translation>Zeilen von %1</translation>
    </message>
    <message>
        <source>rows of a multiple of %1 values</source>
        <translation>Zeilen, deren Länge ein Vielfaches von %1 ist</translation>
    </message>
    <message>
        <source>scales of groups alone, none for channels beside them</source>
        <translation>Skalen von Gruppen allein, keine für Kanäle daneben</translation>
    </message>
    <message>
        <source>scales of groups alone, none for the whole tensor as in NVFP4</source>
        <translation>Skalen von Gruppen allein, keine für den ganzen Tensor wie bei NVFP4</translation>
    </message>
    <message>
        <source>symmetric codes, without zero points</source>
        <translation>symmetrische Codes ohne Nullpunkte</translation>
    </message>
    <message>
        <source>weights in %1 do not exist there</source>
        <translation>Gewichte in %1 gibt es dort nicht</translation>
    </message>
    <message>
        <source>it is read whole for every token</source>
        <translation>er wird für jedes Token ganz gelesen</translation>
    </message>
    <message>
        <source>it is read whole for every token, about %1 more per token</source>
        <translation>er wird für jedes Token ganz gelesen, etwa %1 mehr pro Token</translation>
    </message>
    <message>
        <source>it cannot be opened</source>
        <translation>sie lässt sich nicht öffnen</translation>
    </message>
    <message>
        <source>it cannot be read</source>
        <translation>sie lässt sich nicht lesen</translation>
    </message>
    <message>
        <source>it is cut short</source>
        <translation>sie ist abgeschnitten</translation>
    </message>
    <message>
        <source>it is cut short or damaged</source>
        <translation>sie ist abgeschnitten oder beschädigt</translation>
    </message>
    <message>
        <source>it is of another version or model</source>
        <translation>sie gehört zu einer anderen Version oder einem anderen Modell</translation>
    </message>
    <message>
        <source>its directory is damaged</source>
        <translation>ihr Verzeichnis ist beschädigt</translation>
    </message>
    <message>
        <source>is %1, which cannot be used there; it is left out</source>
        <translation>ist %1, was dort nicht verwendet werden kann; es wird weggelassen</translation>
    </message>
    <message>
        <source>is %1; this is not run here, so that replies can differ from those of transformers</source>
        <translation>ist %1; das wird hier nicht ausgeführt, sodass Antworten von denen von transformers abweichen können</translation>
    </message>
    <message>
        <source>is false; pictures are resized all the same</source>
        <translation>ist false; Bilder werden trotzdem skaliert</translation>
    </message>
    <message>
        <source>is missing; taken as %1</source>
        <translation>fehlt und gilt als %1</translation>
    </message>
    <message>
        <source>is not &quot;right&quot;; recordings are padded on the right</source>
        <translation>ist nicht &quot;right&quot;; Aufnahmen werden rechts aufgefüllt</translation>
    </message>
    <message>
        <source>is out of its range; it is taken as %1</source>
        <translation>liegt außerhalb seines Bereichs; es gilt als %1</translation>
    </message>
    <message>
        <source>its tower was left out of this load (text only)</source>
        <translation>sein Turm ist bei diesem Laden weggelassen (nur Text)</translation>
    </message>
    <message>
        <source>it names neither store nor compute</source>
        <translation>es nennt weder store noch compute</translation>
    </message>
    <message>
        <source>it names no compute device</source>
        <translation>es nennt nicht, was rechnet</translation>
    </message>
    <message>
        <source>it names no store</source>
        <translation>es nennt nicht, was speichert</translation>
    </message>
    <message>
        <source>JPEG data is damaged: %1</source>
        <translation>JPEG-Daten sind beschädigt: %1</translation>
    </message>
    <message>
        <source>JPEG data is incomplete: it ends before the last of its %1 rows</source>
        <translation>JPEG-Daten sind unvollständig: Sie enden vor der letzten von %1 Zeilen</translation>
    </message>
    <message>
        <source>JPEG data is truncated: the file ends after %1 bytes, before the picture is complete</source>
        <translation>JPEG-Daten sind abgeschnitten: Die Datei endet nach %1 Bytes, bevor das Bild vollständig ist</translation>
    </message>
    <message>
        <source>JPEG header: a segment declares %1 bytes, less than its own length field</source>
        <translation>JPEG-Header: Ein Abschnitt gibt %1 Bytes an, weniger als sein eigenes Längenfeld</translation>
    </message>
    <message>
        <source>JPEG header: it describes two different pictures</source>
        <translation>JPEG-Header: Er beschreibt zwei verschiedene Bilder</translation>
    </message>
    <message>
        <source>JPEG header: the file ends after %1 bytes, before the frame header</source>
        <translation>JPEG-Header: Die Datei endet nach %1 Bytes, vor dem Rahmenheader</translation>
    </message>
    <message>
        <source>JPEG header: the frame header is too short</source>
        <translation>JPEG-Header: Der Rahmenheader ist zu kurz</translation>
    </message>
    <message>
        <source>JPEG header: the picture data starts before any frame header</source>
        <translation>JPEG-Header: Die Bilddaten beginnen vor jedem Rahmenheader</translation>
    </message>
    <message>
        <source>KaSA truncates the base weight and adds a diagonal, which is not implemented</source>
        <translation>KaSA kürzt das Basisgewicht und fügt eine Diagonale hinzu, und das gibt es hier nicht</translation>
    </message>
    <message>
        <source>layer %1 shares the KV of layer %2</source>
        <translation>Schicht %1 benutzt die Schlüssel und Werte von Schicht %2</translation>
    </message>
    <message>
        <source>layer %1 takes its values from %2</source>
        <translation>Schicht %1 nimmt ihre Werte aus %2</translation>
    </message>
    <message>
        <source>layers_to_transform leaves the layer out</source>
        <translation>layers_to_transform lässt die Schicht weg</translation>
    </message>
    <message>
        <source>made for %1, loaded on %2</source>
        <translation>für %1 gemacht, auf %2 geladen</translation>
    </message>
    <message>
        <source>keys translated to our names: %1</source>
        <translation>Schlüssel in unsere Namen übersetzt: %1</translation>
    </message>
    <message>
        <source>keys without effect (no tensors that are used lie there): %1</source>
        <translation>Schlüssel ohne Wirkung (dort liegen keine Tensoren, die benutzt werden): %1</translation>
    </message>
    <message>
        <source>layers %1-%2 on %3, one block, so that the state changes device once</source>
        <translation>Schichten %1–%2 auf %3, ein Block, damit der Zustand das Gerät nur einmal wechselt</translation>
    </message>
    <message>
        <source>linear weights in %1</source>
        <translation>lineare Gewichte in %1</translation>
    </message>
    <message>
        <source>linear weights stay as they are stored, because no --quant was given; with --quant %1 it would be about %2 tokens/s</source>
        <translation>die linearen Gewichte bleiben, wie sie gespeichert sind, weil --quant nicht angegeben ist; mit --quant %1 wären es etwa %2 Token/s</translation>
    </message>
    <message>
        <source>lm_head and embed_tokens are one tensor in the checkpoint; the map puts them on different devices, so there are two copies</source>
        <translation>lm_head und embed_tokens sind im Checkpoint ein Tensor; der Plan legt sie auf verschiedene Geräte, also gibt es zwei Kopien</translation>
    </message>
    <message>
        <source>more than %1 pairs of keys contradict each other; only the first are listed</source>
        <translation>mehr als %1 Paare von Schlüsseln widersprechen sich; nur die ersten sind aufgeführt</translation>
    </message>
    <message>
        <source>kernels</source>
        <translation>Kernel</translation>
    </message>
    <message>
        <source>Libraries</source>
        <translation>Bibliotheken</translation>
    </message>
    <message>
        <source>loaded</source>
        <translation>geladen</translation>
    </message>
    <message>
        <source>measured</source>
        <translation>gemessen</translation>
    </message>
    <message>
        <source>memory</source>
        <translation>Speicher</translation>
    </message>
    <message>
        <source>models</source>
        <translation>Modelle</translation>
    </message>
    <message>
        <source>layer %1 computes on %2: %3 bytes travel per token inside it; keeping a layer&apos;s weights together avoids that</source>
        <translation>Schicht %1 rechnet auf %2: Je Token wandern %3 Byte in ihr; wer die Gewichte einer Schicht beisammen lässt, vermeidet das</translation>
    </message>
    <message>
        <source>layer %1 on %2 reads keys and values kept on %3: %4 bytes per token travel for it</source>
        <translation>Schicht %1 auf %2 liest Schlüssel und Werte, die auf %3 liegen: Dafür wandern je Token %4 Byte</translation>
    </message>
    <message>
        <source>layer %1 on %2 reads the keys and values of layer %3 on %4: %5 bytes per token go to a mirror there</source>
        <translation>Schicht %1 auf %2 liest die Schlüssel und Werte von Schicht %3 auf %4: Je Token gehen %5 Byte in einen Spiegel dort</translation>
    </message>
    <message>
        <source>layers %1 compute on %2: %3 bytes travel per token inside them; keeping a layer&apos;s weights together avoids that</source>
        <translation>Schichten %1 rechnen auf %2: Je Token wandern %3 Byte in ihnen; wer die Gewichte einer Schicht beisammen lässt, vermeidet das</translation>
    </message>
    <message>
        <source>layers %1 on %2 read keys and values kept on %3: %4 bytes per token travel for it</source>
        <translation>Schichten %1 auf %2 lesen Schlüssel und Werte, die auf %3 liegen: Dafür wandern je Token %4 Byte</translation>
    </message>
    <message>
        <source>layers %1 on %2 read the keys and values of layer %3 on %4: %5 bytes per token go to a mirror there</source>
        <translation>Schichten %1 auf %2 lesen die Schlüssel und Werte von Schicht %3 auf %4: Je Token gehen %5 Byte in einen Spiegel dort</translation>
    </message>
    <message>
        <source>MP3 file is truncated: it ends after %1 bytes of sound, inside the first frame</source>
        <translation>MP3-Datei ist abgeschnitten: Sie endet nach %1 Bytes Ton, innerhalb des ersten Rahmens</translation>
    </message>
    <message>
        <source>MP3 file is truncated: it ends inside its ID3 tag of %1 bytes</source>
        <translation>MP3-Datei ist abgeschnitten: Sie endet innerhalb ihrer ID3-Angaben von %1 Bytes</translation>
    </message>
    <message>
        <source>MonteCLoRA is not implemented</source>
        <translation>MonteCLoRA gibt es hier nicht</translation>
    </message>
    <message>
        <source>No NVIDIA driver on this machine (%1 was not found); everything runs on the CPU.</source>
        <translation>Dieser Rechner hat keinen NVIDIA-Treiber (%1 wurde nicht gefunden); alles läuft auf dem Prozessor.</translation>
    </message>
    <message>
        <source>not in the files, planned as bf16: %1</source>
        <translation>nicht in den Dateien, als bf16 geplant: %1</translation>
    </message>
    <message>
        <source>none in this build: no card is used</source>
        <translation>keine in diesem Programm: Es wird keine Karte benutzt</translation>
    </message>
    <message>
        <source>not asked</source>
        <translation>nicht gefragt</translation>
    </message>
    <message>
        <source>not found</source>
        <translation>nicht gefunden</translation>
    </message>
    <message>
        <source>not known (%1)</source>
        <translation>nicht bekannt (%1)</translation>
    </message>
    <message>
        <source>not loaded: %1 (%2)</source>
        <translation>nicht geladen: %1 (%2)</translation>
    </message>
    <message>
        <source>not used</source>
        <translation>nicht benutzt</translation>
    </message>
    <message>
        <source>not used: %1 (no module of this architecture)</source>
        <translation>nicht verwendet: %1 (kein Modul dieser Architektur)</translation>
    </message>
    <message>
        <source>not yet: the first plan does</source>
        <translation>noch nicht: Der erste Plan eines Modells misst</translation>
    </message>
    <message>
        <source>note</source>
        <translation>Hinweis</translation>
    </message>
    <message>
        <source>no marks of turns</source>
        <translation>keine Marken</translation>
    </message>
    <message>
        <source>no key gives a device to %1; add a key, or &quot;&quot; for everything else</source>
        <translation>kein Schlüssel gibt %1 ein Gerät; fügen Sie einen Schlüssel hinzu, oder &quot;&quot; für alles andere</translation>
    </message>
    <message>
        <source>Ogg file is truncated: the page at byte 0 is longer than the %1 bytes that are left</source>
        <translation>Ogg-Datei ist abgeschnitten: Die Seite bei Byte 0 ist länger als die %1 Bytes, die noch da sind</translation>
    </message>
    <message>
        <source>Ogg header: the file ends after %1 bytes, inside the first page</source>
        <translation>Ogg-Header: Die Datei endet nach %1 Bytes, innerhalb der ersten Seite</translation>
    </message>
    <message>
        <source>one row of %1 per token, not measurable</source>
        <translation>eine Zeile von %1 pro Token, nicht messbar</translation>
    </message>
    <message>
        <source>per-layer embedding table to %1</source>
        <translation>Einbettungstabelle je Schicht auf %1</translation>
    </message>
    <message>
        <source>part of the program</source>
        <translation>Teil des Programms</translation>
    </message>
    <message>
        <source>only linear weights, experts, embedding tables and the head can have it</source>
        <translation>nur lineare Gewichte, Experten, Einbettungstabellen und der Kopf können es haben</translation>
    </message>
    <message>
        <source>PNG data is damaged: %1 (at byte %2 of %3)</source>
        <translation>PNG-Daten sind beschädigt: %1 (bei Byte %2 von %3)</translation>
    </message>
    <message>
        <source>PNG header: colour type %1 with %2 bits does not exist</source>
        <translation>PNG-Header: Den Farbtyp %1 mit %2 Bits gibt es nicht</translation>
    </message>
    <message>
        <source>PNG header: its checksum (CRC) does not match, the file is damaged</source>
        <translation>PNG-Header: Seine Prüfsumme (CRC) stimmt nicht, die Datei ist beschädigt</translation>
    </message>
    <message>
        <source>PNG header: the file ends after %1 bytes, the header alone has 33</source>
        <translation>PNG-Header: Die Datei endet nach %1 Bytes, der Header allein hat 33</translation>
    </message>
    <message>
        <source>PNG header: the first chunk is not an IHDR of 13 bytes</source>
        <translation>PNG-Header: Der erste Abschnitt ist kein IHDR von 13 Bytes</translation>
    </message>
    <message>
        <source>PNG header: unknown compression, filter or interlace method</source>
        <translation>PNG-Header: unbekannte Kompression, unbekannter Filter oder unbekannte Zeilenfolge</translation>
    </message>
    <message>
        <source>problem</source>
        <translation>Problem</translation>
    </message>
    <message>
        <source>processor</source>
        <translation>Prozessor</translation>
    </message>
    <message>
        <source>Processor and memory</source>
        <translation>Prozessor und Speicher</translation>
    </message>
    <message>
        <source>QALoRA pools the input of A, which is not implemented</source>
        <translation>QALoRA fasst die Eingabe von A zusammen, und das gibt es hier nicht</translation>
    </message>
    <message>
        <source>runtime_config is ignored, as PEFT does</source>
        <translation>runtime_config wird nicht beachtet, wie in PEFT</translation>
    </message>
    <message>
        <source>reads %1 GB/s, products %2 %3</source>
        <translation>liest %1 GB/s, Matrixprodukte %2 %3</translation>
    </message>
    <message>
        <source>residency given by %1 has no effect where store and compute are the same device (%2)</source>
        <translation>residency aus %1 hat keine Wirkung, wo store und compute dasselbe Gerät sind (%2)</translation>
    </message>
    <message>
        <source>SCB as F32 [%1]</source>
        <translation>SCB als F32 [%1]</translation>
    </message>
    <message>
        <source>simulated GPUs exist only in Belfry</source>
        <translation>simulierte GPUs gibt es nur in Belfry</translation>
    </message>
    <message>
        <source>some accuracy for speed, before what every token reads leaves</source>
        <translation>etwas Genauigkeit gegen Tempo, bevor geht, was jedes Token liest</translation>
    </message>
    <message>
        <source>some accuracy for speed, before what every token reads leaves; --head bf16 keeps the head as it is stored</source>
        <translation>etwas Genauigkeit gegen Tempo, bevor geht, was jedes Token liest; --head bf16 lässt den Kopf, wie er gespeichert ist</translation>
    </message>
    <message>
        <source>speeds are estimates from rates measured on this computer: memory is read with %1 GB/s, products run at %2 GFLOP/s</source>
        <translation>Geschwindigkeiten sind Schätzungen aus Raten, die auf diesem Rechner gemessen sind: Speicher wird mit %1 GB/s gelesen, Produkte laufen mit %2 GFLOP/s</translation>
    </message>
    <message>
        <source>Speex speech</source>
        <translation>Speex-Sprache</translation>
    </message>
    <message>
        <source>store %1</source>
        <translation>store %1</translation>
    </message>
    <message>
        <source>store %1, compute %2</source>
        <translation>store %1, compute %2</translation>
    </message>
    <message>
        <source>stored on %1 but computed on %2: store comes from %3 and so does compute; what is stored on a GPU is computed there (%4)</source>
        <translation>auf %1 gespeichert, aber auf %2 gerechnet: beides kommt aus %3; was auf einer GPU liegt, wird dort gerechnet (%4)</translation>
    </message>
    <message>
        <source>stored on %1 but computed on %2: store comes from %3, compute from %4; what is stored on a GPU is computed there (%5)</source>
        <translation>auf %1 gespeichert, aber auf %2 gerechnet: store kommt aus %3, compute aus %4; was auf einer GPU liegt, wird dort gerechnet (%5)</translation>
    </message>
    <message>
        <source>stored on %1, computed on %2, format %3 (by %4)</source>
        <translation>auf %1 gespeichert, auf %2 gerechnet, Format %3 (aus %4)</translation>
    </message>
    <message>
        <source>Switch the adapter off or give it a smaller strength; if that does not help, take another checkpoint</source>
        <translation>Schalten Sie den Adapter aus oder geben Sie ihm eine kleinere Stärke; wenn das nicht hilft, nehmen Sie einen anderen Checkpoint</translation>
    </message>
    <message>
        <source>target_modules does not target the module</source>
        <translation>target_modules nennt das Modul nicht als Ziel</translation>
    </message>
    <message>
        <source>target_parameters does not name an expert parameter for this key</source>
        <translation>target_parameters nennt für diesen Schlüssel keinen Parameter der Experten</translation>
    </message>
    <message>
        <source>the adapter replaces %1 weights that travel to their device; their replacements stay there (only A and B follow)</source>
        <translation>der Adapter ersetzt %1 Gewichte, die zu ihrem Gerät wandern; ihr Ersatz bleibt dort (nur A und B folgen)</translation>
    </message>
    <message>
        <source>the adapter replaces 1 weight that travels to its device; its replacement stays there (only A and B follow)</source>
        <translation>der Adapter ersetzt 1 Gewicht, das zu seinem Gerät wandert; sein Ersatz bleibt dort (nur A und B folgen)</translation>
    </message>
    <message>
        <source>system</source>
        <translation>System</translation>
    </message>
    <message>
        <source>tells no version</source>
        <translation>nennt keine Version</translation>
    </message>
    <message>
        <source>the %1 recording declares %2 bytes of sound and has %3: it was cut short or written without knowing its length; what is there is played</source>
        <translation>die Aufnahme (%1) nennt %2 Byte Ton und hat %3: Sie wurde abgeschnitten oder geschrieben, ohne dass ihre Länge bekannt war; was da ist, wird gespielt</translation>
    </message>
    <message>
        <source>the %1 recording declares %2 seconds and has %3: it was cut short or is damaged behind; what is there is played</source>
        <translation>die Aufnahme (%1) nennt %2 Sekunden und hat %3: Sie wurde abgeschnitten oder ist dahinter beschädigt; was da ist, wird gespielt</translation>
    </message>
    <message>
        <source>the checkpoint holds %1 values</source>
        <translation>der Checkpoint enthält Werte vom Typ %1</translation>
    </message>
    <message>
        <source>the checkpoint holds it packed as %1; a key that names exactly this tensor may ask for its expansion</source>
        <translation>der Checkpoint enthält ihn gepackt als %1; ein Schlüssel, der genau diesen Tensor nennt, darf ihn entpacken lassen</translation>
    </message>
    <message>
        <source>the checkpoint holds it packed as %1; use that, as_stored, or the unquantized checkpoint</source>
        <translation>der Checkpoint enthält ihn gepackt als %1; nehmen Sie das, as_stored oder den unquantisierten Checkpoint</translation>
    </message>
    <message>
        <source>The checkpoint is damaged or its training had diverged: download it again, or take another one</source>
        <translation>Der Checkpoint ist beschädigt, oder sein Training war aus dem Ruder gelaufen: Laden Sie ihn noch einmal herunter, oder nehmen Sie einen anderen</translation>
    </message>
    <message>
        <source>The driver gives no card to this process any more: loading again cannot work. Start the program again, or go on with everything on the CPU (device map &quot;cpu&quot;).</source>
        <translation>Der Treiber gibt diesem Programm keine Karte mehr: Neu laden kann nicht gelingen. Starten Sie das Programm neu, oder machen Sie mit allem auf der CPU weiter (Geräteplan &quot;cpu&quot;).</translation>
    </message>
    <message>
        <source>the experts&apos; factors have the shapes of PEFT 0.19.1 and later although the file was written %1; the shapes count</source>
        <translation>die Faktoren der Experten haben die Formen von PEFT 0.19.1 und später, obwohl die Datei %1 geschrieben ist; die Formen gelten</translation>
    </message>
    <message>
        <source>the experts&apos; factors stand transposed, as PEFT before 0.19.1 stored them (the file was written %1); they are turned round</source>
        <translation>die Faktoren der Experten stehen vertauscht, wie PEFT vor 0.19.1 sie speicherte (die Datei ist %1 geschrieben); sie werden umgedreht</translation>
    </message>
    <message>
        <source>the key names no module</source>
        <translation>der Schlüssel nennt kein Modul</translation>
    </message>
    <message>
        <source>the model&apos;s folder has no chat template, so that no chat prompt can be written; use a raw prompt</source>
        <translation>Der Ordner des Modells hat keine Chat-Vorlage, so dass sich kein Prompt für ein Gespräch schreiben lässt; nehmen Sie einen rohen Prompt</translation>
    </message>
    <message>
        <source>the model does not use %1</source>
        <translation>das Modell benutzt %1 nicht</translation>
    </message>
    <message>
        <source>the model has no audio tower</source>
        <translation>das Modell hat keinen Audioturm</translation>
    </message>
    <message>
        <source>the model has no module %1</source>
        <translation>das Modell hat kein Modul %1</translation>
    </message>
    <message>
        <source>the model has no vision tower</source>
        <translation>das Modell hat keinen Bildturm</translation>
    </message>
    <message>
        <source>the model has only %1 layers</source>
        <translation>das Modell hat nur %1 Schichten</translation>
    </message>
    <message>
        <source>the module has a low-rank update; its own weight would be called base_layer.weight</source>
        <translation>das Modul hat eine Änderung niedrigen Ranges; sein eigenes Gewicht hieße base_layer.weight</translation>
    </message>
    <message>
        <source>the module has no parameter %1</source>
        <translation>das Modul hat keinen Parameter %1</translation>
    </message>
    <message>
        <source>the module is in modules_to_save, which replaces it whole</source>
        <translation>das Modul steht in modules_to_save, das es ganz ersetzt</translation>
    </message>
    <message>
        <source>the model asks for the tool %1 with %2, which nothing here runs</source>
        <translation>das Modell verlangt das Werkzeug %1 mit %2, das hier nicht ausgeführt wird</translation>
    </message>
    <message>
        <source>The model files hold other values than when the weight cache was made, in %1 of %2 weights (first %3): these are made again.</source>
        <translation>Die Dateien des Modells enthalten andere Werte als beim Schreiben der quantisierten Kopie, in %1 von %2 Gewichten (zuerst %3): Diese werden neu gemacht.</translation>
    </message>
    <message>
        <source>the Ogg recording ends inside a page: it was cut short; what is there is played</source>
        <translation>die Ogg-Aufnahme endet mitten in einer Seite: Sie wurde abgeschnitten; was da ist, wird gespielt</translation>
    </message>
    <message>
        <source>the end of the text</source>
        <translation>das Ende des Textes</translation>
    </message>
    <message>
        <source>the key %1</source>
        <translation>dem Schlüssel %1</translation>
    </message>
    <message>
        <source>the key %1 has a bracket that is not a range: one component of the form [a-b] with a &lt;= b and no leading zeros is allowed</source>
        <translation>der Schlüssel %1 hat eine Klammer, die kein Bereich ist: Erlaubt ist ein Teil der Form [a-b] mit a &lt;= b ohne führende Nullen</translation>
    </message>
    <message>
        <source>the key %1 stands for the whole model; use &quot;default&quot; for that</source>
        <translation>der Schlüssel %1 steht für das ganze Modell; dafür ist &quot;default&quot; da</translation>
    </message>
    <message>
        <source>the key %1 stands twice in one object</source>
        <translation>der Schlüssel %1 steht zweimal in einem Objekt</translation>
    </message>
    <message>
        <source>the keys %1 and %2 both mean %3 but set %4 to different values (%5 against %6); a single number does not beat a range: keep one</source>
        <translation>die Schlüssel %1 und %2 meinen beide %3, setzen aber %4 auf verschiedene Werte (%5 gegen %6); eine einzelne Nummer schlägt keinen Bereich: Behalten Sie einen</translation>
    </message>
    <message>
        <source>the load options</source>
        <translation>den Ladeoptionen</translation>
    </message>
    <message>
        <source>The NVIDIA driver crashed when it was asked for its graphics cards (%1: %2). Restart the machine, and install the driver again if that does not help. Everything runs on the CPU until Belfry is started again.</source>
        <translation>Der NVIDIA-Treiber ist abgestürzt, als er nach seinen Grafikkarten gefragt wurde (%1: %2). Starten Sie den Rechner neu, und installieren Sie den Treiber neu, wenn das nicht hilft. Bis zum nächsten Start von Belfry läuft alles auf dem Prozessor.</translation>
    </message>
    <message>
        <source>The NVIDIA driver did not tell its graphics cards within %1 s (%2; a machine with many cards may need longer: BELFRY_CARD_SECONDS). Restart the machine, and install the driver again if that does not help. Everything runs on the CPU until Belfry is started again.</source>
        <translation>Der NVIDIA-Treiber hat seine Grafikkarten nicht innerhalb von %1 s genannt (%2; ein Rechner mit vielen Karten kann länger brauchen: BELFRY_CARD_SECONDS). Starten Sie den Rechner neu, und installieren Sie den Treiber neu, wenn das nicht hilft. Bis zum nächsten Start von Belfry läuft alles auf dem Prozessor.</translation>
    </message>
    <message>
        <source>The NVIDIA driver does not start (%1); restart the machine or reinstall the driver to use the graphics card. Everything runs on the CPU.</source>
        <translation>Der NVIDIA-Treiber startet nicht (%1); ein Neustart des Rechners oder eine neue Installation des Treibers macht die Grafikkarte benutzbar. Alles läuft auf dem Prozessor.</translation>
    </message>
    <message>
        <source>The NVIDIA driver lacks the function %1; update the driver to use the graphics card. Everything runs on the CPU.</source>
        <translation>Dem NVIDIA-Treiber fehlt die Funktion %1; mit einem neueren Treiber kann Belfry die Grafikkarte benutzen. Alles läuft auf dem Prozessor.</translation>
    </message>
    <message>
        <source>The NVIDIA driver sees no graphics card; everything runs on the CPU.</source>
        <translation>Der NVIDIA-Treiber sieht keine Grafikkarte; alles läuft auf dem Prozessor.</translation>
    </message>
    <message>
        <source>The NVIDIA driver supports CUDA %1, Belfry needs %2 or newer; update the driver to use the graphics card. Everything runs on the CPU.</source>
        <translation>Der NVIDIA-Treiber unterstützt CUDA %1, Belfry braucht %2 oder neuer; mit einem neueren Treiber kann Belfry die Grafikkarte benutzen. Alles läuft auf dem Prozessor.</translation>
    </message>
    <message>
        <source>the map was made for a model with %1 layers, this one has %2</source>
        <translation>der Plan ist für ein Modell mit %1 Schichten gemacht, dieses hat %2</translation>
    </message>
    <message>
        <source>the map was made for the architecture &quot;%1&quot;, this model is gemma4 (%2)</source>
        <translation>der Plan ist für die Architektur „%1“ gemacht, dieses Modell ist gemma4 (%2)</translation>
    </message>
    <message>
        <source>the member &quot;default&quot; is missing; it says where everything goes that no key names, for example &quot;default&quot;: &quot;cuda:0&quot;</source>
        <translation>der Eintrag &quot;default&quot; fehlt. Er sagt, wohin alles kommt, was kein Schlüssel nennt, zum Beispiel &quot;default&quot;: &quot;cuda:0&quot;</translation>
    </message>
    <message>
        <source>the memory of a simulated GPU is this computer&apos;s main memory: %1 need %2 (%3 bytes) of it together but may use %4 (%5 bytes), %6 too much (%7). The largest parts: %8</source>
        <translation>der Speicher einer simulierten GPU ist der Hauptspeicher dieses Rechners: %1 brauchen davon zusammen %2 (%3 Byte), dürfen aber %4 (%5 Byte) belegen, %6 zu viel (%7). Die größten Teile: %8</translation>
    </message>
    <message>
        <source>the number %1</source>
        <translation>die Zahl %1</translation>
    </message>
    <message>
        <source>the pattern &quot;%1&quot; takes too much work on the module %2 (%3); write it with fewer repeats, or name the modules in a list</source>
        <translation>das Muster &quot;%1&quot; braucht für das Modul %2 zu viel Arbeit (%3); schreiben Sie es mit weniger Wiederholungen, oder nennen Sie die Module in einer Liste</translation>
    </message>
    <message>
        <source>the pattern &quot;%1&quot; uses what is not implemented: %2; write it without that, or name the modules in a list</source>
        <translation>das Muster &quot;%1&quot; benutzt, was es hier nicht gibt: %2; schreiben Sie es ohne das, oder nennen Sie die Module in einer Liste</translation>
    </message>
    <message>
        <source>the patterns of this file take more than %1 MiB of memory together, and &quot;%2&quot; is one too many; write them with fewer counted repeats</source>
        <translation>die Muster dieser Datei brauchen zusammen mehr als %1 MiB Speicher, und &quot;%2&quot; ist eines zu viel; schreiben Sie sie mit weniger gezählten Wiederholungen</translation>
    </message>
    <message>
        <source>the picture has a flaw (%1) and may look wrong</source>
        <translation>das Bild hat einen Fehler (%1) und sieht vielleicht falsch aus</translation>
    </message>
    <message>
        <source>The plan does not say where %1 goes.</source>
        <translation>Der Plan sagt nicht, wohin %1 kommt.</translation>
    </message>
    <message>
        <source>The plan lists %1 twice.</source>
        <translation>Der Plan nennt %1 zweimal.</translation>
    </message>
    <message>
        <source>The plan lists %1, which this model does not have.</source>
        <translation>Der Plan nennt %1, und das hat dieses Modell nicht.</translation>
    </message>
    <message>
        <source>this plan does not fit: %1</source>
        <translation>dieser Plan passt nicht: %1</translation>
    </message>
    <message>
        <source>the server ended the reply: %1</source>
        <translation>der Server hat die Antwort beendet: %1</translation>
    </message>
    <message>
        <source>the system gives this program %1, it has %2</source>
        <translation>das System gibt diesem Programm %1, belegt sind %2</translation>
    </message>
    <message>
        <source>The weight cache %1 is not used and will be made again: %2.</source>
        <translation>Die quantisierte Kopie %1 wird nicht verwendet und neu gemacht: %2.</translation>
    </message>
    <message>
        <source>The weight cache was damaged and is written anew.</source>
        <translation>Die quantisierte Kopie war beschädigt und wird neu geschrieben.</translation>
    </message>
    <message>
        <source>The weight cache was damaged while in use: %1 weights are made from the model files (%2 the last), which is slower. Load the model again to have the cache written anew.</source>
        <translation>Eine quantisierte Kopie wurde im Gebrauch beschädigt: %1 Gewichte werden aus den Dateien des Modells gemacht (%2 als letztes), was langsamer ist. Laden Sie das Modell neu, damit die Kopie neu geschrieben wird.</translation>
    </message>
    <message>
        <source>The weight cache was damaged while in use: 1 weight is made from the model files (%1), which is slower. Load the model again to have the cache written anew.</source>
        <translation>Eine quantisierte Kopie wurde im Gebrauch beschädigt: 1 Gewicht wird aus den Dateien des Modells gemacht (%1), was langsamer ist. Laden Sie das Modell neu, damit die Kopie neu geschrieben wird.</translation>
    </message>
    <message>
        <source>The weight cache was damaged: %1 and %2 other weights were made again from the model files. The cache is written anew.</source>
        <translation>Die quantisierte Kopie war beschädigt: %1 und %2 weitere Gewichte wurden aus den Dateien des Modells neu gemacht. Die Kopie wird neu geschrieben.</translation>
    </message>
    <message>
        <source>The weight cache was damaged: %1 and one other weight were made again from the model files. The cache is written anew.</source>
        <translation>Die quantisierte Kopie war beschädigt: %1 und ein weiteres Gewicht wurden aus den Dateien des Modells neu gemacht. Die Kopie wird neu geschrieben.</translation>
    </message>
    <message>
        <source>The weight cache was damaged: %1 was made again from the model files. The cache is written anew.</source>
        <translation>Die quantisierte Kopie war beschädigt: %1 wurde aus den Dateien des Modells neu gemacht. Die Kopie wird neu geschrieben.</translation>
    </message>
    <message>
        <source>The weight cache was not written: %1</source>
        <translation>Die quantisierte Kopie wurde nicht geschrieben: %1</translation>
    </message>
    <message>
        <source>tokenizer.json is not in the folder: planning works, loading does not</source>
        <translation>tokenizer.json fehlt im Ordner: Planen geht, Laden nicht</translation>
    </message>
    <message>
        <source>tokenizer.json: ordinary text becomes the special token %1; it counts as a word and is shown in replies</source>
        <translation>tokenizer.json: Gewöhnlicher Text wird zum Sondertoken %1; es gilt als Wort und wird in Antworten gezeigt</translation>
    </message>
    <message>
        <source>tokenizer.json: post_processor (%1) is not applied: raw text gets no special tokens from it</source>
        <translation>tokenizer.json: post_processor (%1) wird nicht angewandt: Roher Text bekommt davon keine Sondertoken</translation>
    </message>
    <message>
        <source>tokenizer.json: the member %1 is unknown and has no effect</source>
        <translation>tokenizer.json: Der Eintrag %1 ist unbekannt und hat keine Wirkung</translation>
    </message>
    <message>
        <source>trainable_token_indices does not name the module</source>
        <translation>trainable_token_indices nennt das Modul nicht</translation>
    </message>
    <message>
        <source>two copies of the tied table: accelerate may move both together</source>
        <translation>zwei Kopien der gekoppelten Tabelle: accelerate verschiebt vielleicht beide zusammen</translation>
    </message>
    <message>
        <source>the preset %1 needs a GPU and this machine shows none; use the preset &quot;cpu&quot;, or try a simulated GPU with --sim-gpu</source>
        <translation>die Vorgabe %1 braucht eine GPU, und dieser Rechner zeigt keine; nehmen Sie die Vorgabe „cpu“, oder versuchen Sie eine simulierte GPU mit --sim-gpu</translation>
    </message>
    <message>
        <source>the rules</source>
        <translation>den Regeln</translation>
    </message>
    <message>
        <source>This build has no GPU kernels (it was made without nvcc): graphics cards are not used.</source>
        <translation>Dieser Build hat keine GPU-Kernel (er ist ohne nvcc gemacht): Grafikkarten werden nicht benutzt.</translation>
    </message>
    <message>
        <source>token embedding (the head has its own copy) to %1</source>
        <translation>Token-Einbettung (der Kopf hat seine eigene Kopie) auf %1</translation>
    </message>
    <message>
        <source>the size %1 has a unit in wrong upper and lower case; write KiB, MiB, GiB (1024) or KB, MB, GB (1000)</source>
        <translation>die Größe %1 hat eine Einheit mit falscher Groß- und Kleinschreibung; schreiben Sie KiB, MiB, GiB (1024) oder KB, MB, GB (1000)</translation>
    </message>
    <message>
        <source>the text has %1 bytes; a device map has at most %2</source>
        <translation>der Text hat %1 Byte; ein Plan hat höchstens %2</translation>
    </message>
    <message>
        <source>the whole model</source>
        <translation>das ganze Modell</translation>
    </message>
    <message>
        <source>there is no device-map preset %1; known are %2</source>
        <translation>eine Platzierung %1 gibt es nicht; bekannt sind %2</translation>
    </message>
    <message>
        <source>%1: there was no room for copies of experts</source>
        <translation>%1: für Kopien von Experten war kein Platz</translation>
    </message>
    <message>
        <source>%1: copies of experts made room for an adapter; they come back when the layout is applied or the model is loaded</source>
        <translation>%1: Kopien von Experten haben einem Adapter Platz gemacht; sie kommen wieder, wenn die Platzierung angewendet oder das Modell geladen wird</translation>
    </message>
    <message>
        <source>&quot;max&quot;, &quot;off&quot; or a size such as &quot;2GiB&quot;</source>
        <translation>„max“, „off“ oder eine Größe wie „2GiB“</translation>
    </message>
    <message>
        <source>--expert-cache %1: expected auto, max, off or a size such as 2GiB</source>
        <translation>--expert-cache %1: erwartet wird auto, max, off oder eine Größe wie 2GiB</translation>
    </message>
    <message>
        <source>this version keeps keys and values in bf16 (fp32 with --precision f32) or q8 and has no other format for them; change kv.format</source>
        <translation>diese Version hält Schlüssel und Werte in bf16 (fp32 mit --precision f32) oder q8 und hat kein anderes Format dafür; ändern Sie kv.format</translation>
    </message>
    <message>
        <source>U8, the bytes of a JSON text</source>
        <translation>U8, die Bytes eines JSON-Texts</translation>
    </message>
    <message>
        <source>unbounded memory</source>
        <translation>unbegrenztem Speicher</translation>
    </message>
    <message>
        <source>use a device with more memory or a smaller model</source>
        <translation>ein Gerät mit mehr Speicher oder ein kleineres Modell nehmen</translation>
    </message>
    <message>
        <source>use a device with more memory or a smaller model, or lower the reserve</source>
        <translation>ein Gerät mit mehr Speicher oder ein kleineres Modell nehmen oder die Reserve verkleinern</translation>
    </message>
    <message>
        <source>use a device with more memory or a smaller model, or raise the limit</source>
        <translation>ein Gerät mit mehr Speicher oder ein kleineres Modell nehmen oder die Grenze erhöhen</translation>
    </message>
    <message>
        <source>use a device with more memory or a smaller model, or raise the limit or lower the reserve</source>
        <translation>ein Gerät mit mehr Speicher oder ein kleineres Modell nehmen, die Grenze erhöhen oder die Reserve verkleinern</translation>
    </message>
    <message>
        <source>unknown escape: %1 after \</source>
        <translation>unbekannte Escape-Folge: %1 nach \</translation>
    </message>
    <message>
        <source>unknown member %1; known are %2</source>
        <translation>der Eintrag %1 ist unbekannt; bekannt sind %2</translation>
    </message>
    <message>
        <source>VeLoRA is not implemented</source>
        <translation>VeLoRA gibt es hier nicht</translation>
    </message>
    <message>
        <source>vision tower to %1</source>
        <translation>Bildturm auf %1</translation>
    </message>
    <message>
        <source>version is missing: with an object as a value this is not accelerate&apos;s form; add &quot;version&quot;: 1 and put module keys into &quot;map&quot;</source>
        <translation>&quot;version&quot; fehlt: Mit einem Objekt als Wert ist das nicht die Form von accelerate. Fügen Sie &quot;version&quot;: 1 hinzu, und setzen Sie die Schlüssel der Module in &quot;map&quot;</translation>
    </message>
    <message>
        <source>WAV header: %1 bits per sample</source>
        <translation>WAV-Header: %1 Bits je Abtastwert</translation>
    </message>
    <message>
        <source>WAV header: a block of samples has 0 bytes</source>
        <translation>WAV-Header: Ein Block von Abtastwerten hat 0 Bytes</translation>
    </message>
    <message>
        <source>WAV header: the &apos;fmt &apos; chunk has %1 bytes, at least 16 are needed</source>
        <translation>WAV-Header: Der Abschnitt &apos;fmt &apos; hat %1 Bytes, nötig sind mindestens 16</translation>
    </message>
    <message>
        <source>WAV header: the file ends after %1 bytes without a %2 chunk</source>
        <translation>WAV-Header: Die Datei endet nach %1 Bytes ohne einen Abschnitt %2</translation>
    </message>
    <message>
        <source>WAV header: the samples start before any &apos;fmt &apos; chunk</source>
        <translation>WAV-Header: Die Abtastwerte beginnen vor dem Abschnitt &apos;fmt &apos;</translation>
    </message>
    <message>
        <source>WebP data: %1</source>
        <translation>WebP-Daten: %1</translation>
    </message>
    <message>
        <source>WebP header: %1</source>
        <translation>WebP-Header: %1</translation>
    </message>
    <message>
        <source>__metadata__ has more than 4096 members</source>
        <translation>__metadata__ hat mehr als 4096 Einträge</translation>
    </message>
    <message>
        <source>__metadata__ is %1, expected an object</source>
        <translation>__metadata__ ist %1, erwartet wird ein Objekt</translation>
    </message>
    <message>
        <source>__metadata__ member &quot;%1&quot; is %2, expected a text</source>
        <translation>der Eintrag &quot;%1&quot; von __metadata__ ist %2, erwartet wird ein Text</translation>
    </message>
    <message>
        <source>__metadata__ occurs twice</source>
        <translation>__metadata__ kommt zweimal vor</translation>
    </message>
    <message>
        <source>__metadata__: %1</source>
        <translation>__metadata__: %1</translation>
    </message>
    <message>
        <source>a %1 JPEG; save it as ordinary JPEG or PNG and give that</source>
        <translation>ein %1 JPEG; speichern Sie es als gewöhnliches JPEG oder PNG und geben Sie das</translation>
    </message>
    <message>
        <source>a %1 recording in an encoding that is not read; save it as 16-bit WAV or FLAC and give that</source>
        <translation>eine %1-Aufnahme in einer Kodierung, die nicht gelesen wird; speichern Sie sie als WAV mit 16 Bit oder FLAC und geben Sie das</translation>
    </message>
    <message>
        <source>a 7z archive</source>
        <translation>ein 7z-Archiv</translation>
    </message>
    <message>
        <source>a BMP picture</source>
        <translation>ein BMP-Bild</translation>
    </message>
    <message>
        <source>a BigTIFF picture</source>
        <translation>ein BigTIFF-Bild</translation>
    </message>
    <message>
        <source>a CAF recording</source>
        <translation>eine CAF-Aufnahme</translation>
    </message>
    <message>
        <source>a DDS texture</source>
        <translation>eine DDS-Textur</translation>
    </message>
    <message>
        <source>a FLAC recording</source>
        <translation>eine FLAC-Aufnahme</translation>
    </message>
    <message>
        <source>a Flash video</source>
        <translation>ein Flash-Video</translation>
    </message>
    <message>
        <source>a GIF picture</source>
        <translation>ein GIF-Bild</translation>
    </message>
    <message>
        <source>a GIMP document</source>
        <translation>ein GIMP-Dokument</translation>
    </message>
    <message>
        <source>a HEIC picture</source>
        <translation>ein HEIC-Bild</translation>
    </message>
    <message>
        <source>a HEIF picture</source>
        <translation>ein HEIF-Bild</translation>
    </message>
    <message>
        <source>a JPEG 2000 picture</source>
        <translation>ein JPEG-2000-Bild</translation>
    </message>
    <message>
        <source>a JPEG XL picture</source>
        <translation>ein JPEG-XL-Bild</translation>
    </message>
    <message>
        <source>a JPEG picture</source>
        <translation>ein JPEG-Bild</translation>
    </message>
    <message>
        <source>a JPEG with %1 bits per value, 8 are supported; save it as 8-bit JPEG or PNG</source>
        <translation>ein JPEG mit %1 Bits je Wert, gelesen werden 8; speichern Sie es als JPEG mit 8 Bit oder als PNG</translation>
    </message>
    <message>
        <source>a JPEG with %1 components; 1 (grey), 3 (colour) and 4 (CMYK) are supported</source>
        <translation>ein JPEG mit %1 Komponenten; gelesen werden 1 (Grau), 3 (Farbe) und 4 (CMYK)</translation>
    </message>
    <message>
        <source>a JPEG with more than %1 progressive scans; save it again with any picture program</source>
        <translation>ein JPEG mit mehr als %1 aufbauenden Durchgängen; speichern Sie es mit einem beliebigen Bildprogramm noch einmal</translation>
    </message>
    <message>
        <source>a JSON object</source>
        <translation>ein JSON-Objekt</translation>
    </message>
    <message>
        <source>a MIDI file</source>
        <translation>eine MIDI-Datei</translation>
    </message>
    <message>
        <source>a Matroska or WebM video</source>
        <translation>ein Matroska- oder WebM-Video</translation>
    </message>
    <message>
        <source>a Monkey&apos;s Audio recording</source>
        <translation>eine Aufnahme von Monkey&apos;s Audio</translation>
    </message>
    <message>
        <source>a Musepack recording</source>
        <translation>eine Musepack-Aufnahme</translation>
    </message>
    <message>
        <source>a Netpbm picture</source>
        <translation>ein Netpbm-Bild</translation>
    </message>
    <message>
        <source>a PDF document</source>
        <translation>ein PDF-Dokument</translation>
    </message>
    <message>
        <source>a PNG in Apple&apos;s private variant (CgBI); open and save it as ordinary PNG</source>
        <translation>ein PNG in Apples eigener Variante (CgBI); öffnen Sie es und speichern Sie es als gewöhnliches PNG</translation>
    </message>
    <message>
        <source>a PNG picture</source>
        <translation>ein PNG-Bild</translation>
    </message>
    <message>
        <source>a Photoshop document</source>
        <translation>ein Photoshop-Dokument</translation>
    </message>
    <message>
        <source>a PostScript document</source>
        <translation>ein PostScript-Dokument</translation>
    </message>
    <message>
        <source>a QOI picture</source>
        <translation>ein QOI-Bild</translation>
    </message>
    <message>
        <source>a QuickTime video</source>
        <translation>ein QuickTime-Video</translation>
    </message>
    <message>
        <source>a RAR archive</source>
        <translation>ein RAR-Archiv</translation>
    </message>
    <message>
        <source>a Radiance HDR picture</source>
        <translation>ein Radiance-HDR-Bild</translation>
    </message>
    <message>
        <source>a Sony Wave64 recording</source>
        <translation>eine Wave64-Aufnahme von Sony</translation>
    </message>
    <message>
        <source>a TIFF or camera raw picture</source>
        <translation>ein TIFF- oder Kamera-Rohbild</translation>
    </message>
    <message>
        <source>a TIFF picture</source>
        <translation>ein TIFF-Bild</translation>
    </message>
    <message>
        <source>a TTA recording</source>
        <translation>eine TTA-Aufnahme</translation>
    </message>
    <message>
        <source>a Unicode escape (\%1)</source>
        <translation>eine Unicode-Angabe (\%1)</translation>
    </message>
    <message>
        <source>a VOC recording</source>
        <translation>eine VOC-Aufnahme</translation>
    </message>
    <message>
        <source>a WAV recording</source>
        <translation>eine WAV-Aufnahme</translation>
    </message>
    <message>
        <source>a WMF drawing</source>
        <translation>eine WMF-Zeichnung</translation>
    </message>
    <message>
        <source>a WavPack recording</source>
        <translation>eine WavPack-Aufnahme</translation>
    </message>
    <message>
        <source>a WebP picture</source>
        <translation>ein WebP-Bild</translation>
    </message>
    <message>
        <source>a WebP picture, which this build cannot read (built without libwebp); save it as PNG or JPEG and give that</source>
        <translation>ein WebP-Bild, das dieses Programm nicht lesen kann (ohne libwebp gebaut); speichern Sie es als PNG oder JPEG und geben Sie das</translation>
    </message>
    <message>
        <source>a Windows Media file</source>
        <translation>eine Windows-Media-Datei</translation>
    </message>
    <message>
        <source>a Windows cursor</source>
        <translation>ein Windows-Mauszeiger</translation>
    </message>
    <message>
        <source>a Windows icon</source>
        <translation>ein Windows-Symbol</translation>
    </message>
    <message>
        <source>a ZIP archive or office document</source>
        <translation>ein ZIP-Archiv oder Office-Dokument</translation>
    </message>
    <message>
        <source>a bias of lora_B, which PEFT does not have for this kind of module</source>
        <translation>eine Verschiebung (bias) von lora_B, die es in PEFT für diese Art von Modul nicht gibt</translation>
    </message>
    <message>
        <source>a boolean</source>
        <translation>ein Wahrheitswert</translation>
    </message>
    <message>
        <source>a boolean or a name</source>
        <translation>ein Wahrheitswert oder ein Name</translation>
    </message>
    <message>
        <source>a camera raw picture</source>
        <translation>ein Kamera-Rohbild</translation>
    </message>
    <message>
        <source>a clip of %1 samples at 16 kHz: expected from %2 to %3</source>
        <translation>eine Aufnahme von %1 Abtastwerten bei 16 kHz: erwartet werden %2 bis %3</translation>
    </message>
    <message>
        <source>a device</source>
        <translation>ein Gerät</translation>
    </message>
    <message>
        <source>a device refused a copy of weights; restart the program</source>
        <translation>ein Gerät hat eine Kopie von Gewichten abgewiesen; starten Sie das Programm neu</translation>
    </message>
    <message>
        <source>a disk</source>
        <translation>ein Laufwerk</translation>
    </message>
    <message>
        <source>a division that is not whole</source>
        <translation>eine Division, die nicht aufgeht</translation>
    </message>
    <message>
        <source>a finite number</source>
        <translation>eine endliche Zahl</translation>
    </message>
    <message>
        <source>a finite number that is not negative</source>
        <translation>eine endliche Zahl, die nicht negativ ist</translation>
    </message>
    <message>
        <source>a folder</source>
        <translation>ein Ordner</translation>
    </message>
    <message>
        <source>a group is not closed</source>
        <translation>eine Gruppe ist nicht geschlossen</translation>
    </message>
    <message>
        <source>a gzip archive</source>
        <translation>ein gzip-Archiv</translation>
    </message>
    <message>
        <source>a layer number or a list of them</source>
        <translation>eine Nummer einer Schicht oder eine Liste davon</translation>
    </message>
    <message>
        <source>a linear layer takes lora_A.weight and lora_B.weight</source>
        <translation>zu einer linearen Schicht gehören lora_A.weight und lora_B.weight</translation>
    </message>
    <message>
        <source>a list</source>
        <translation>eine Liste</translation>
    </message>
    <message>
        <source>a list of names, a regular expression or null</source>
        <translation>eine Liste von Namen, ein regulärer Ausdruck oder null</translation>
    </message>
    <message>
        <source>a list of numbers holds %1</source>
        <translation>eine Liste von Zahlen enthält: %1</translation>
    </message>
    <message>
        <source>a list of strings</source>
        <translation>eine Liste von Zeichenketten</translation>
    </message>
    <message>
        <source>a list of strings or null</source>
        <translation>eine Liste von Zeichenketten oder null</translation>
    </message>
    <message>
        <source>a list of token ids</source>
        <translation>eine Liste von Tokennummern</translation>
    </message>
    <message>
        <source>a list or a map as text</source>
        <translation>eine Liste oder ein Objekt als Text</translation>
    </message>
    <message>
        <source>a loop over pairs that are none</source>
        <translation>eine Schleife über Paare, die keine sind</translation>
    </message>
    <message>
        <source>a loop over what is no list</source>
        <translation>eine Schleife über etwas, das keine Liste ist</translation>
    </message>
    <message>
        <source>a low-rank update of %1, which is neither a linear layer nor an embedding</source>
        <translation>ein Zusatz niedrigen Rangs zu %1, das weder eine lineare Schicht noch eine Einbettung ist</translation>
    </message>
    <message>
        <source>a number</source>
        <translation>eine Zahl</translation>
    </message>
    <message>
        <source>a number from 0 to 1</source>
        <translation>eine Zahl von 0 bis 1</translation>
    </message>
    <message>
        <source>a number from 0 to 100</source>
        <translation>eine Zahl von 0 bis 100</translation>
    </message>
    <message>
        <source>a numeric escape in a text</source>
        <translation>eine Zahlenangabe nach \ in einem Text</translation>
    </message>
    <message>
        <source>a part to listen to starts at 0 s or later and has more than 0 and at most %1 s</source>
        <translation>ein Teil zum Anhören beginnt bei 0 s oder später und hat mehr als 0 und höchstens %1 s</translation>
    </message>
    <message>
        <source>a picture has more soft tokens than one prefill call holds (%1); load with a larger --image-tokens</source>
        <translation>ein Bild hat mehr Token, als auf einmal gelesen werden (%1); laden Sie mit mehr --image-tokens</translation>
    </message>
    <message>
        <source>a picture of %1 cannot be resized</source>
        <translation>ein Bild von %1 lässt sich nicht verkleinern oder vergrößern</translation>
    </message>
    <message>
        <source>a picture of %1 comes with %2 bytes of pixels</source>
        <translation>zu einem Bild von %1 gehören %2 Bytes Bildpunkte</translation>
    </message>
    <message>
        <source>a picture of %1 has no size within %2 image tokens</source>
        <translation>ein Bild von %1 hat keine Größe innerhalb von %2 Token</translation>
    </message>
    <message>
        <source>a picture of %1 would need %2 patches along one side, the model has %3 positions; cut it into less elongated parts or choose a smaller image token budget</source>
        <translation>ein Bild von %1 bräuchte %2 Felder entlang einer Seite, das Modell hat %3 Positionen; schneiden Sie es in weniger längliche Teile oder wählen Sie weniger Token je Bild</translation>
    </message>
    <message>
        <source>a pipe</source>
        <translation>eine Pipe</translation>
    </message>
    <message>
        <source>a positive 32-bit number</source>
        <translation>eine positive Zahl mit 32 Bit</translation>
    </message>
    <message>
        <source>a program</source>
        <translation>ein Programm</translation>
    </message>
    <message>
        <source>a recording</source>
        <translation>eine Aufnahme</translation>
    </message>
    <message>
        <source>a recursive loop</source>
        <translation>eine rekursive Schleife</translation>
    </message>
    <message>
        <source>a second key for the same tensor, after %1</source>
        <translation>ein zweiter Schlüssel für denselben Tensor, nach %1</translation>
    </message>
    <message>
        <source>a sign before what is no whole number</source>
        <translation>ein Vorzeichen vor etwas, das keine ganze Zahl ist</translation>
    </message>
    <message>
        <source>a slice of more than three parts</source>
        <translation>ein Ausschnitt aus mehr als drei Teilen</translation>
    </message>
    <message>
        <source>a slice with step 0</source>
        <translation>einen Ausschnitt mit der Schrittweite 0</translation>
    </message>
    <message>
        <source>a socket</source>
        <translation>ein Socket</translation>
    </message>
    <message>
        <source>a storage type with whole bytes</source>
        <translation>ein Speichertyp mit ganzen Bytes</translation>
    </message>
    <message>
        <source>a string</source>
        <translation>eine Zeichenkette</translation>
    </message>
    <message>
        <source>a string or null</source>
        <translation>eine Zeichenkette oder null</translation>
    </message>
    <message>
        <source>a tag is not closed</source>
        <translation>ein Tag ist nicht geschlossen</translation>
    </message>
    <message>
        <source>a tensor has an empty name</source>
        <translation>ein Tensor hat einen leeren Namen</translation>
    </message>
    <message>
        <source>a tensor name has %1 bytes, at most 1024 are allowed: %2</source>
        <translation>ein Name eines Tensors hat %1 Bytes, erlaubt sind höchstens 1024: %2</translation>
    </message>
    <message>
        <source>a tensor name in weight_map is empty or longer than 1024 bytes</source>
        <translation>ein Tensorname in weight_map ist leer oder länger als 1024 Bytes</translation>
    </message>
    <message>
        <source>a text</source>
        <translation>ein Text</translation>
    </message>
    <message>
        <source>a text is not closed</source>
        <translation>ein Text ist nicht geschlossen</translation>
    </message>
    <message>
        <source>a value</source>
        <translation>ein Wert</translation>
    </message>
    <message>
        <source>a vision tower</source>
        <translation>einen Bildturm</translation>
    </message>
    <message>
        <source>a whole number</source>
        <translation>eine ganze Zahl</translation>
    </message>
    <message>
        <source>adapter %1 is listed twice</source>
        <translation>der Adapter %1 steht zweimal da</translation>
    </message>
    <message>
        <source>adapter rank %1: expected 1 to %2</source>
        <translation>Rang %1 des Adapters: erwartet wird 1 bis %2</translation>
    </message>
    <message>
        <source>adapter strength %1 is outside 0 to 2</source>
        <translation>die Stärke %1 des Adapters liegt nicht zwischen 0 und 2</translation>
    </message>
    <message>
        <source>%1: %2: element %3 is not a finite number; the adapter is damaged or training diverged</source>
        <translation>%1: %2: Element %3 ist keine endliche Zahl; der Adapter ist beschädigt, oder das Training lief aus dem Ruder</translation>
    </message>
    <message>
        <source>adapters %1 and %2 both replace %3; enable one of them at a time</source>
        <translation>die Adapter %1 und %2 ersetzen beide %3; verwenden Sie nur einen davon auf einmal</translation>
    </message>
    <message>
        <source>adapters %1 and %2 both replace token %3 of %4; enable one of them at a time</source>
        <translation>die Adapter %1 und %2 ersetzen beide Token %3 von %4; verwenden Sie nur einen davon auf einmal</translation>
    </message>
    <message>
        <source>adapters of kind %1 cannot be run; only LORA can</source>
        <translation>Adapter der Art %1 laufen hier nicht, nur LORA</translation>
    </message>
    <message>
        <source>added_tokens lists %1 twice</source>
        <translation>added_tokens nennt %1 zweimal</translation>
    </message>
    <message>
        <source>added_tokens lists the byte token %1, which unknown characters turn into</source>
        <translation>added_tokens nennt das Bytetoken %1, zu dem unbekannte Zeichen werden</translation>
    </message>
    <message>
        <source>added_tokens: %1 has the id %2, model.vocab says %3</source>
        <translation>added_tokens: %1 hat die Nummer %2, model.vocab sagt %3</translation>
    </message>
    <message>
        <source>added_tokens: entry %1</source>
        <translation>added_tokens: Eintrag %1</translation>
    </message>
    <message>
        <source>added_tokens: expected an array, found %1</source>
        <translation>added_tokens: erwartet wird ein Array, gefunden: %1</translation>
    </message>
    <message>
        <source>added_tokens: the id of %1 is %2, but there are %3 tokens in all and ids run from 0 without a gap</source>
        <translation>added_tokens: Die Nummer von %1 ist %2, aber es gibt im Ganzen %3 Token, und Nummern laufen von 0 ohne Lücke</translation>
    </message>
    <message>
        <source>alpha %1 is beyond 1e9 in size</source>
        <translation>alpha %1 ist größer als 1e9</translation>
    </message>
    <message>
        <source>an AAC recording</source>
        <translation>eine AAC-Aufnahme</translation>
    </message>
    <message>
        <source>an AIFF recording</source>
        <translation>eine AIFF-Aufnahme</translation>
    </message>
    <message>
        <source>an AMR recording</source>
        <translation>eine AMR-Aufnahme</translation>
    </message>
    <message>
        <source>an AU recording</source>
        <translation>eine AU-Aufnahme</translation>
    </message>
    <message>
        <source>an AVI video</source>
        <translation>ein AVI-Video</translation>
    </message>
    <message>
        <source>an AVIF picture</source>
        <translation>ein AVIF-Bild</translation>
    </message>
    <message>
        <source>an EMF drawing</source>
        <translation>eine EMF-Zeichnung</translation>
    </message>
    <message>
        <source>an HTML page</source>
        <translation>eine HTML-Seite</translation>
    </message>
    <message>
        <source>an M4A recording</source>
        <translation>eine M4A-Aufnahme</translation>
    </message>
    <message>
        <source>an MNG animation</source>
        <translation>eine MNG-Animation</translation>
    </message>
    <message>
        <source>an MP3 recording</source>
        <translation>eine MP3-Aufnahme</translation>
    </message>
    <message>
        <source>an MP4 video</source>
        <translation>ein MP4-Video</translation>
    </message>
    <message>
        <source>an MPEG video</source>
        <translation>ein MPEG-Video</translation>
    </message>
    <message>
        <source>an Ogg file with %1; Ogg Vorbis and Opus recordings are supported, save it as one of these or as WAV</source>
        <translation>eine Ogg-Datei mit %1; Aufnahmen in Ogg Vorbis und Opus gehen, speichern Sie sie so oder als WAV</translation>
    </message>
    <message>
        <source>an Ogg recording</source>
        <translation>eine Ogg-Aufnahme</translation>
    </message>
    <message>
        <source>an OpenEXR picture</source>
        <translation>ein OpenEXR-Bild</translation>
    </message>
    <message>
        <source>an SVG drawing</source>
        <translation>eine SVG-Zeichnung</translation>
    </message>
    <message>
        <source>an array</source>
        <translation>eine Liste</translation>
    </message>
    <message>
        <source>an array of %1 strings</source>
        <translation>ein Array von %1 Zeichenketten</translation>
    </message>
    <message>
        <source>an assignment to a member of what is no namespace</source>
        <translation>eine Zuweisung an ein Feld von etwas, das kein Namensraum ist</translation>
    </message>
    <message>
        <source>an audio tower</source>
        <translation>einen Audioturm</translation>
    </message>
    <message>
        <source>an embedding takes lora_embedding_A and lora_embedding_B</source>
        <translation>zu einer Einbettung gehören lora_embedding_A und lora_embedding_B</translation>
    </message>
    <message>
        <source>an empty file</source>
        <translation>eine leere Datei</translation>
    </message>
    <message>
        <source>an empty subscript</source>
        <translation>ein leerer Index</translation>
    </message>
    <message>
        <source>an incomplete \x escape</source>
        <translation>eine unvollständige Angabe nach \x</translation>
    </message>
    <message>
        <source>an object</source>
        <translation>ein Objekt</translation>
    </message>
    <message>
        <source>an object has more than %1 members</source>
        <translation>ein Objekt hat mehr als %1 Einträge</translation>
    </message>
    <message>
        <source>an object of patterns</source>
        <translation>ein Objekt von Mustern</translation>
    </message>
    <message>
        <source>an object without a type</source>
        <translation>ein Objekt ohne Typ</translation>
    </message>
    <message>
        <source>an unknown 4-bit code table, %1 there</source>
        <translation>eine unbekannte Codetabelle mit 4 Bit, dort %1</translation>
    </message>
    <message>
        <source>an unknown IFF file</source>
        <translation>eine unbekannte IFF-Datei</translation>
    </message>
    <message>
        <source>an unknown RIFF file</source>
        <translation>eine unbekannte RIFF-Datei</translation>
    </message>
    <message>
        <source>an unknown group type</source>
        <translation>eine unbekannte Art von Gruppe</translation>
    </message>
    <message>
        <source>an xz archive</source>
        <translation>ein xz-Archiv</translation>
    </message>
    <message>
        <source>arithmetic on fractions or very large numbers</source>
        <translation>Rechnen mit Brüchen oder sehr großen Zahlen</translation>
    </message>
    <message>
        <source>arithmetic-coded</source>
        <translation>arithmetisch kodiertes</translation>
    </message>
    <message>
        <source>at most 64 members</source>
        <translation>höchstens 64 Einträge</translation>
    </message>
    <message>
        <source>audio</source>
        <translation>Ton</translation>
    </message>
    <message>
        <source>audio tower</source>
        <translation>Audioturm</translation>
    </message>
    <message>
        <source>audio: %1 frames are too few; at least 161 samples are needed</source>
        <translation>Audio: %1 Abschnitte sind zu wenige; nötig sind mindestens 161 Abtastwerte</translation>
    </message>
    <message>
        <source>audio: %1 tokens, the model takes at most %2 (30 s) per clip; cut the clip</source>
        <translation>Audio: %1 Token, das Modell nimmt höchstens %2 (30 s) je Aufnahme; kürzen Sie die Aufnahme</translation>
    </message>
    <message>
        <source>beside group_size and without quant_method is how MLX writes quantized models, which cannot be read; use the 16-bit model it was converted from or a bitsandbytes 4-bit one</source>
        <translation>neben group_size und ohne quant_method schreibt MLX quantisierte Modelle, und die sind nicht lesbar; nehmen Sie das 16-Bit-Modell, aus dem es entstanden ist, oder eines mit 4 Bit von bitsandbytes</translation>
    </message>
    <message>
        <source>block-diagonal LoRA is not implemented</source>
        <translation>blockdiagonales LoRA gibt es hier nicht</translation>
    </message>
    <message>
        <source>blocks nested too deeply</source>
        <translation>zu tief verschachtelte Blöcke</translation>
    </message>
    <message>
        <source>cannot be combined with use_dora</source>
        <translation>geht nicht zusammen mit use_dora</translation>
    </message>
    <message>
        <source>cannot be created: %1</source>
        <translation>lässt sich nicht anlegen: %1</translation>
    </message>
    <message>
        <source>cannot be examined: %1</source>
        <translation>lässt sich nicht untersuchen: %1</translation>
    </message>
    <message>
        <source>cannot be opened</source>
        <translation>lässt sich nicht öffnen</translation>
    </message>
    <message>
        <source>cannot be opened: %1</source>
        <translation>lässt sich nicht öffnen: %1</translation>
    </message>
    <message>
        <source>cannot be opened; check that you may read it</source>
        <translation>lässt sich nicht öffnen; prüfen Sie, ob Sie sie lesen dürfen</translation>
    </message>
    <message>
        <source>cannot be read: %1</source>
        <translation>lässt sich nicht lesen: %1</translation>
    </message>
    <message>
        <source>cannot be used when target_modules is a string</source>
        <translation>geht nicht, wenn target_modules eine Zeichenkette ist</translation>
    </message>
    <message>
        <source>cannot differ between layers in this version; only head_dim and num_key_value_heads can</source>
        <translation>darf in dieser Version nicht je Schicht verschieden sein; nur head_dim und num_key_value_heads dürfen es</translation>
    </message>
    <message>
        <source>cannot resize a picture to %1</source>
        <translation>ein Bild lässt sich nicht auf %1 bringen</translation>
    </message>
    <message>
        <source>changed while it was open: it had %1 bytes, now it has %2; load the model again</source>
        <translation>wurde verändert, während es offen war: Es hatte %1 Bytes, jetzt hat es %2; laden Sie das Modell neu</translation>
    </message>
    <message>
        <source>changed while it was open: its modification time is another one; load the model again</source>
        <translation>wurde verändert, während es offen war: Der Zeitpunkt der Änderung ist ein anderer; laden Sie das Modell neu</translation>
    </message>
    <message>
        <source>changing adapters needed more memory than the system gave; close other programs, or choose a smaller context or a smaller format</source>
        <translation>der Wechsel der Adapter brauchte mehr Speicher, als das System gab; schließen Sie andere Programme, oder wählen Sie einen kleineren Kontext oder ein kleineres Format</translation>
    </message>
    <message>
        <source>config.json has a quantization_config</source>
        <translation>config.json hat eine quantization_config</translation>
    </message>
    <message>
        <source>config.json: its sizes add up to more than 2^44 parameters (at %1); no machine can hold that</source>
        <translation>config.json: Ihre Größen ergeben zusammen mehr als 2^44 Parameter (bei %1); das fasst kein Rechner</translation>
    </message>
    <message>
        <source>config.json: the file is empty</source>
        <translation>config.json: Die Datei ist leer</translation>
    </message>
    <message>
        <source>config.json: there is no such file in the folder %1</source>
        <translation>config.json: Eine solche Datei gibt es nicht im Ordner %1</translation>
    </message>
    <message>
        <source>control character in a string</source>
        <translation>Steuerzeichen in einer Zeichenkette</translation>
    </message>
    <message>
        <source>copying %1</source>
        <translation>Kopieren von %1</translation>
    </message>
    <message>
        <source>copying weights from %1 to %2 failed; restart the program</source>
        <translation>das Kopieren von Gewichten von %1 nach %2 ist misslungen; starten Sie das Programm neu</translation>
    </message>
    <message>
        <source>data_offsets has %1 numbers, expected 2</source>
        <translation>data_offsets hat %1 Zahlen, erwartet werden 2</translation>
    </message>
    <message>
        <source>data_offsets has more than 2 numbers</source>
        <translation>data_offsets hat mehr als 2 Zahlen</translation>
    </message>
    <message>
        <source>data_offsets is %1, expected a list</source>
        <translation>data_offsets ist %1, erwartet wird eine Liste</translation>
    </message>
    <message>
        <source>decoder layer %1</source>
        <translation>Decoderschicht %1</translation>
    </message>
    <message>
        <source>decoder: expected ByteLevel, or Sequence of Replace U+2581 by a space, ByteFallback, Fuse and, where the normalizer has Prepend, Strip of that space, found %1</source>
        <translation>decoder: erwartet wird ByteLevel oder eine Sequence aus Replace von U+2581 durch ein Leerzeichen, ByteFallback, Fuse und, wo normalizer Prepend hat, Strip dieses Leerzeichens, gefunden: %1</translation>
    </message>
    <message>
        <source>device map %1: expected a file or one of the presets %2</source>
        <translation>Geräteplan %1: erwartet wird eine Datei oder eine der Vorlagen %2</translation>
    </message>
    <message>
        <source>differs from eoa_token_id</source>
        <translation>weicht von eoa_token_id ab</translation>
    </message>
    <message>
        <source>does not begin with a JSON object; expected a device map in accelerate&apos;s form or Belfry&apos;s version 1</source>
        <translation>beginnt nicht mit einem JSON-Objekt; erwartet wird ein Geräteplan in der Form von accelerate oder in Version 1 von Belfry</translation>
    </message>
    <message>
        <source>get it with: belfry-cli get %1</source>
        <translation>holen Sie es mit: belfry-cli get %1</translation>
    </message>
    <message>
        <source>dtype is %1, expected a text</source>
        <translation>dtype ist %1, erwartet wird ein Text</translation>
    </message>
    <message>
        <source>each member once</source>
        <translation>jeder Eintrag einmal</translation>
    </message>
    <message>
        <source>element type %1, expected F32, F16 or BF16</source>
        <translation>Elementtyp %1, erwartet wird F32, F16 oder BF16</translation>
    </message>
    <message>
        <source>ends at byte %1 although it had %2 bytes when it was opened</source>
        <translation>endet bei Byte %1, obwohl es beim Öffnen %2 Bytes hatte</translation>
    </message>
    <message>
        <source>expected &quot;%1&quot;, found &quot;%2&quot;</source>
        <translation>erwartet wird &quot;%1&quot;, gefunden: &quot;%2&quot;</translation>
    </message>
    <message>
        <source>expected &quot;none&quot;, &quot;all&quot; or &quot;lora_only&quot;, found &quot;%1&quot;</source>
        <translation>erwartet wird &quot;none&quot;, &quot;all&quot; oder &quot;lora_only&quot;, gefunden: &quot;%1&quot;</translation>
    </message>
    <message>
        <source>expected %1, found %2</source>
        <translation>erwartet: %1, gefunden: %2</translation>
    </message>
    <message>
        <source>expected &apos;,&apos; or &apos;]&apos;</source>
        <translation>erwartet wird &apos;,&apos; oder &apos;]&apos;</translation>
    </message>
    <message>
        <source>expected &apos;,&apos; or &apos;}&apos;</source>
        <translation>erwartet wird &apos;,&apos; oder &apos;}&apos;</translation>
    </message>
    <message>
        <source>expected &apos;:&apos;</source>
        <translation>erwartet wird &apos;:&apos;</translation>
    </message>
    <message>
        <source>expected a member name</source>
        <translation>erwartet wird der Name eines Eintrags</translation>
    </message>
    <message>
        <source>expected a member name or &apos;}&apos;</source>
        <translation>erwartet wird der Name eines Eintrags oder &apos;}&apos;</translation>
    </message>
    <message>
        <source>expected a name, found &quot;%1&quot;</source>
        <translation>erwartet wird ein Name, gefunden: &quot;%1&quot;</translation>
    </message>
    <message>
        <source>expected a picture (PNG, JPEG or WebP), found %1; if it is a picture, save it as PNG or JPEG and give that</source>
        <translation>erwartet wird ein Bild (PNG, JPEG oder WebP), gefunden: %1; wenn es ein Bild ist, speichern Sie es als PNG oder JPEG und geben Sie das</translation>
    </message>
    <message>
        <source>expected a recording (WAV, FLAC, Ogg, MP3, AIFF or AU), found %1; if it is a recording, save it as WAV or FLAC and give that</source>
        <translation>erwartet wird eine Aufnahme (WAV, FLAC, Ogg, MP3, AIFF oder AU), gefunden: %1; wenn es eine Aufnahme ist, speichern Sie sie als WAV oder FLAC und geben Sie das</translation>
    </message>
    <message>
        <source>expected a value</source>
        <translation>erwartet wird ein Wert</translation>
    </message>
    <message>
        <source>expected an object at the top level</source>
        <translation>auf der obersten Ebene wird ein Objekt erwartet</translation>
    </message>
    <message>
        <source>expected an object, found %1</source>
        <translation>erwartet wird ein Objekt, gefunden: %1</translation>
    </message>
    <message>
        <source>expressions nested too deeply</source>
        <translation>zu tief verschachtelte Ausdrücke</translation>
    </message>
    <message>
        <source>finite values</source>
        <translation>endliche Werte</translation>
    </message>
    <message>
        <source>finite values that are not negative</source>
        <translation>endliche Werte, die nicht negativ sind</translation>
    </message>
    <message>
        <source>flushing to disk failed: %1</source>
        <translation>das Schreiben auf den Datenträger ist misslungen: %1</translation>
    </message>
    <message>
        <source>give raw logits</source>
        <translation>rohe Logits geben</translation>
    </message>
    <message>
        <source>give the folder that holds the adapter&apos;s adapter_config.json, or a GGUF file</source>
        <translation>geben Sie den Ordner an, der die adapter_config.json des Adapters enthält, oder eine GGUF-Datei</translation>
    </message>
    <message>
        <source>gives %1 %2 heads of %3, more than %4 values together</source>
        <translation>gibt %1 %2 Köpfe zu %3, zusammen mehr als %4 Werte</translation>
    </message>
    <message>
        <source>gives %1 %2 key/value heads, which do not divide its %3 query heads</source>
        <translation>gibt %1 %2 Schlüssel-Wert-Köpfe, die ihre %3 Anfrageköpfe nicht teilen</translation>
    </message>
    <message>
        <source>gives %1 other key/value sizes than layer %2, whose keys and values it reads</source>
        <translation>gibt %1 andere Größen von Schlüsseln und Werten als Schicht %2, deren Schlüssel und Werte sie liest</translation>
    </message>
    <message>
        <source>global flags that do not stand at the start</source>
        <translation>globale Schalter, die nicht am Anfang stehen</translation>
    </message>
    <message>
        <source>has %1 bytes, at most %2 are read</source>
        <translation>hat %1 Bytes, gelesen werden höchstens %2</translation>
    </message>
    <message>
        <source>has %1 bytes, bytes %2 to %3 were asked for</source>
        <translation>hat %1 Bytes, verlangt wurden die Bytes %2 bis %3</translation>
    </message>
    <message>
        <source>has %1 bytes, more than the %2 such a file may have</source>
        <translation>hat %1 Bytes, mehr als die %2, die eine solche Datei haben darf</translation>
    </message>
    <message>
        <source>has %1 entries</source>
        <translation>hat %1 Einträge</translation>
    </message>
    <message>
        <source>has %1 entries, at most %2 are read</source>
        <translation>hat %1 Einträge, gelesen werden höchstens %2</translation>
    </message>
    <message>
        <source>has %1 entries, expected 2</source>
        <translation>hat %1 Einträge, erwartet werden 2</translation>
    </message>
    <message>
        <source>has %1 entries, num_hidden_layers is %2</source>
        <translation>hat %1 Einträge, num_hidden_layers ist %2</translation>
    </message>
    <message>
        <source>has an empty entry</source>
        <translation>hat einen leeren Eintrag</translation>
    </message>
    <message>
        <source>has an entry of %1 bytes, at most %2 are read</source>
        <translation>hat einen Eintrag von %1 Bytes, gelesen werden höchstens %2</translation>
    </message>
    <message>
        <source>has more than %1 bytes, the most that is expected of it</source>
        <translation>hat mehr als %1 Bytes, und mehr wird davon nicht erwartet</translation>
    </message>
    <message>
        <source>has no weight_map with tensors in it</source>
        <translation>hat keine weight_map mit Tensoren darin</translation>
    </message>
    <message>
        <source>has only %1 bytes; a safetensors file begins with an 8-byte header length</source>
        <translation>hat nur %1 Bytes; eine safetensors-Datei beginnt mit 8 Bytes für die Länge des Headers</translation>
    </message>
    <message>
        <source>hierarchical</source>
        <translation>hierarchisches</translation>
    </message>
    <message>
        <source>holds &quot;%1&quot;; only sliding_attention and full_attention are known</source>
        <translation>enthält &quot;%1&quot;; bekannt sind nur sliding_attention und full_attention</translation>
    </message>
    <message>
        <source>holds %1</source>
        <translation>enthält %1</translation>
    </message>
    <message>
        <source>holds %1 rows, the vocabulary of the model has %2: the vocabulary was resized while training, which needs the resized base</source>
        <translation>enthält %1 Zeilen, das Vokabular des Modells hat %2: Das Vokabular wurde beim Training vergrößert oder verkleinert, und das braucht die geänderte Basis</translation>
    </message>
    <message>
        <source>holds %1, expected only texts</source>
        <translation>enthält %1, erwartet werden nur Texte</translation>
    </message>
    <message>
        <source>holds a number that no double can hold</source>
        <translation>enthält eine Zahl, die in keine Gleitkommazahl passt</translation>
    </message>
    <message>
        <source>holds only its header; download the whole file to load %1</source>
        <translation>enthält nur den Header; laden Sie die ganze Datei herunter, um %1 zu laden</translation>
    </message>
    <message>
        <source>image</source>
        <translation>Bild</translation>
    </message>
    <message>
        <source>image of %1 x %2 patches: does not fit the budget the model was loaded for; load with a larger --image-tokens</source>
        <translation>Bild mit %1 x %2 Feldern: passt nicht in das, wofür das Modell geladen wurde; laden Sie mit mehr --image-tokens</translation>
    </message>
    <message>
        <source>image of %1 x %2 patches: the model knows %3 positions per side; choose a smaller token budget or a squarer picture</source>
        <translation>Bild mit %1 x %2 Feldern: Das Modell kennt %3 Positionen je Seite; wählen Sie weniger Token oder ein quadratischeres Bild</translation>
    </message>
    <message>
        <source>image token budget %1: expected 70, 140, 280, 560 or 1120</source>
        <translation>%1 Token je Bild: erwartet wird 70, 140, 280, 560 oder 1120</translation>
    </message>
    <message>
        <source>is &quot;%1&quot;; %2 and %3 are implemented</source>
        <translation>ist &quot;%1&quot;; möglich sind %2 und %3</translation>
    </message>
    <message>
        <source>is &quot;%1&quot;; only %2 is implemented</source>
        <translation>ist &quot;%1&quot;; möglich ist nur %2</translation>
    </message>
    <message>
        <source>is &quot;%1&quot;; only default and axial are implemented</source>
        <translation>ist &quot;%1&quot;; möglich sind nur default und axial</translation>
    </message>
    <message>
        <source>is &quot;%1&quot;; only default and llama3 are implemented</source>
        <translation>ist &quot;%1&quot;; nur default und llama3 sind umgesetzt</translation>
    </message>
    <message>
        <source>is missing, expected a number</source>
        <translation>fehlt; erwartet wird eine Zahl</translation>
    </message>
    <message>
        <source>is %1, expected more than low_freq_factor</source>
        <translation>ist %1; erwartet wird mehr als low_freq_factor</translation>
    </message>
    <message>
        <source>is no list of %1 numbers above zero</source>
        <translation>ist keine Liste von %1 Zahlen über null</translation>
    </message>
    <message>
        <source>is %1, also where it is not given; only null is implemented for this kind of model</source>
        <translation>ist %1, auch wo es nicht angegeben ist; für diese Art von Modell ist nur null umgesetzt</translation>
    </message>
    <message>
        <source>%1: rope_freqs.weight is no list of F32 numbers; the file is damaged or was written by a converter that Belfry does not know</source>
        <translation>%1: rope_freqs.weight ist keine Liste von F32-Zahlen; die Datei ist beschädigt oder stammt von einem Umwandler, den Belfry nicht kennt</translation>
    </message>
    <message>
        <source>is %1; only none and the tensor rope_freqs.weight (Llama 3.1 and later) are implemented</source>
        <translation>ist %1; nur none und der Tensor rope_freqs.weight (Llama 3.1 und neuer) sind umgesetzt</translation>
    </message>
    <message>
        <source>is %1; windows are not implemented for this architecture</source>
        <translation>ist %1; Fenster sind für diese Architektur nicht umgesetzt</translation>
    </message>
    <message>
        <source>is &quot;%1&quot;; only default, linear and proportional are known</source>
        <translation>ist &quot;%1&quot;; bekannt sind nur default, linear und proportional</translation>
    </message>
    <message>
        <source>is &quot;%1&quot;; only nf4 and fp4 are known</source>
        <translation>ist &quot;%1&quot;; bekannt sind nur nf4 und fp4</translation>
    </message>
    <message>
        <source>is &quot;%1&quot;; only silu is implemented</source>
        <translation>ist &quot;%1&quot;; möglich ist nur silu</translation>
    </message>
    <message>
        <source>is %1 with heads of %2; expected a divisor of num_attention_heads and even heads</source>
        <translation>ist %1 mit Köpfen zu %2; erwartet werden ein Teiler von num_attention_heads und gerade Köpfe</translation>
    </message>
    <message>
        <source>is %1, expected a list of texts</source>
        <translation>ist %1, erwartet wird eine Liste von Texten</translation>
    </message>
    <message>
        <source>is %1, expected a multiple of 4 (rotary halves on two axes)</source>
        <translation>ist %1, erwartet wird ein Vielfaches von 4 (Hälften zum Drehen auf zwei Achsen)</translation>
    </message>
    <message>
        <source>is %1, expected a number from %2 to %3</source>
        <translation>ist %1, erwartet wird eine Zahl von %2 bis %3</translation>
    </message>
    <message>
        <source>is %1, expected a plain file; name another</source>
        <translation>ist %1, erwartet wird eine gewöhnliche Datei; nennen Sie eine andere</translation>
    </message>
    <message>
        <source>is %1, expected a text</source>
        <translation>ist %1, erwartet wird ein Text</translation>
    </message>
    <message>
        <source>is %1, expected a whole number from %2 to %3</source>
        <translation>ist %1, erwartet wird eine ganze Zahl von %2 bis %3</translation>
    </message>
    <message>
        <source>is %1, expected an even multiple of num_attention_heads (%2)</source>
        <translation>ist %1, erwartet wird ein gerades Vielfaches von num_attention_heads (%2)</translation>
    </message>
    <message>
        <source>is %1, expected an even number (rotary halves)</source>
        <translation>ist %1, erwartet wird eine gerade Zahl (Hälften zum Drehen)</translation>
    </message>
    <message>
        <source>is %1, expected an object</source>
        <translation>ist %1, erwartet wird ein Objekt</translation>
    </message>
    <message>
        <source>is %1, expected num_attention_heads x head_dim = %2</source>
        <translation>ist %1, erwartet wird num_attention_heads x head_dim = %2</translation>
    </message>
    <message>
        <source>is %1, expected one of 70, 140, 280, 560, 1120</source>
        <translation>ist %1, erwartet wird 70, 140, 280, 560 oder 1120</translation>
    </message>
    <message>
        <source>is %1, expected true or false</source>
        <translation>ist %1, erwartet wird true oder false</translation>
    </message>
    <message>
        <source>is %1, num_experts is only %2</source>
        <translation>ist %1, num_experts ist nur %2</translation>
    </message>
    <message>
        <source>is %1, too much for %2 layers</source>
        <translation>ist %1, zu viel für %2 Schichten</translation>
    </message>
    <message>
        <source>is %1, vocab_size is %2; every token needs a row</source>
        <translation>ist %1, vocab_size ist %2; jedes Token braucht eine Zeile</translation>
    </message>
    <message>
        <source>is %1: %2 shares keys and values, but no layer of its type before layer %3 owns any</source>
        <translation>ist %1: %2 teilt Schlüssel und Werte, aber keine Schicht dieser Art vor Schicht %3 hat welche</translation>
    </message>
    <message>
        <source>is %1; only %2 is implemented</source>
        <translation>ist %1; möglich ist nur %2</translation>
    </message>
    <message>
        <source>is %1; only as many as num_attention_heads (%2) is implemented</source>
        <translation>ist %1; möglich ist nur dieselbe Zahl wie num_attention_heads (%2)</translation>
    </message>
    <message>
        <source>is %1; only null and &quot;vision&quot; are implemented</source>
        <translation>ist %1; möglich sind nur null und &quot;vision&quot;</translation>
    </message>
    <message>
        <source>is a 7-Zip archive; unpack it first</source>
        <translation>ist ein 7-Zip-Archiv; entpacken Sie es zuerst</translation>
    </message>
    <message>
        <source>is a Git LFS pointer, not the file itself; fetch the large files (git lfs pull) or download the model again</source>
        <translation>ist ein Verweis von Git LFS, nicht die Datei selbst; holen Sie die großen Dateien (git lfs pull) oder laden Sie das Modell noch einmal herunter</translation>
    </message>
    <message>
        <source>is a NumPy file; Belfry opens safetensors models</source>
        <translation>ist eine NumPy-Datei; Belfry öffnet safetensors-Modelle</translation>
    </message>
    <message>
        <source>is a Python pickle, which can run code when it is opened, so Belfry never opens one; get the safetensors version of the model or convert it with its maker&apos;s tools</source>
        <translation>ist ein Pickle von Python, das beim Öffnen Programme ausführen kann, also öffnet Belfry nie eines; beschaffen Sie die safetensors-Fassung des Modells oder wandeln Sie es mit den Werkzeugen seines Herstellers um</translation>
    </message>
    <message>
        <source>is a file; choose the folder that holds the model&apos;s config.json</source>
        <translation>ist eine Datei; wählen Sie den Ordner, der die config.json des Modells enthält</translation>
    </message>
    <message>
        <source>is a link that leads nowhere (%1); download the file again</source>
        <translation>ist eine Verknüpfung, die ins Leere führt (%1); laden Sie die Datei noch einmal herunter</translation>
    </message>
    <message>
        <source>is a link that leads to no file (too many links, or one that cannot be read); name the file itself</source>
        <translation>ist eine Verknüpfung, die zu keiner Datei führt (zu viele Verknüpfungen, oder eine ist nicht lesbar); nennen Sie die Datei selbst</translation>
    </message>
    <message>
        <source>is a link that leaves the model folder; put the file itself into the folder</source>
        <translation>ist eine Verknüpfung, die aus dem Modellordner hinausführt; legen Sie die Datei selbst in den Ordner</translation>
    </message>
    <message>
        <source>is a link where a regular file is expected</source>
        <translation>ist eine Verknüpfung, wo eine gewöhnliche Datei erwartet wird</translation>
    </message>
    <message>
        <source>is a list of %1 entries, expected at most %2</source>
        <translation>ist eine Liste von %1 Einträgen, erwartet werden höchstens %2</translation>
    </message>
    <message>
        <source>is a list of more than 65536 entries</source>
        <translation>ist eine Liste von mehr als 65536 Einträgen</translation>
    </message>
    <message>
        <source>is a list, expected an object</source>
        <translation>ist eine Liste, erwartet wird ein Objekt</translation>
    </message>
    <message>
        <source>is a pipe that no program reads; start the reader first, or name a file</source>
        <translation>ist eine Pipe, aus der kein Programm liest; starten Sie zuerst das lesende Programm oder nennen Sie eine Datei</translation>
    </message>
    <message>
        <source>is a terminal; name a file</source>
        <translation>ist ein Terminal; nennen Sie eine Datei</translation>
    </message>
    <message>
        <source>is a web page, not a model file; the download probably failed (a login page?), try it again</source>
        <translation>ist eine Webseite, keine Modelldatei; wahrscheinlich ist das Herunterladen misslungen (eine Anmeldeseite?), versuchen Sie es noch einmal</translation>
    </message>
    <message>
        <source>is a zip archive (PyTorch saves pickles this way), which can run code when it is opened, so Belfry never opens one; get the safetensors version of the model</source>
        <translation>ist ein ZIP-Archiv (PyTorch speichert Pickles so), das beim Öffnen Programme ausführen kann, also öffnet Belfry nie eines; beschaffen Sie die safetensors-Fassung des Modells</translation>
    </message>
    <message>
        <source>is an HDF5 file (Keras); Belfry opens safetensors models</source>
        <translation>ist eine HDF5-Datei (Keras); Belfry öffnet safetensors-Modelle</translation>
    </message>
    <message>
        <source>is an old GGML file; get the model as safetensors or GGUF</source>
        <translation>ist eine alte GGML-Datei; holen Sie das Modell als safetensors oder GGUF</translation>
    </message>
    <message>
        <source>is compressed (gzip); unpack it first</source>
        <translation>ist komprimiert (gzip); entpacken Sie es zuerst</translation>
    </message>
    <message>
        <source>is compressed (xz); unpack it first</source>
        <translation>ist komprimiert (xz); entpacken Sie es zuerst</translation>
    </message>
    <message>
        <source>is compressed (zstd); unpack it first</source>
        <translation>ist komprimiert (zstd); entpacken Sie es zuerst</translation>
    </message>
    <message>
        <source>is false; pictures are always scaled to 0..1</source>
        <translation>ist false; Bilder werden immer auf 0..1 gebracht</translation>
    </message>
    <message>
        <source>is missing, and its published value lies outside the vocabulary of %1; the model has %2</source>
        <translation>fehlt, und der veröffentlichte Wert liegt außerhalb des Vokabulars von %1; das Modell hat %2</translation>
    </message>
    <message>
        <source>is missing, and so is architectures; is this the config.json of a model?</source>
        <translation>fehlt, und architectures auch; ist das die config.json eines Modells?</translation>
    </message>
    <message>
        <source>is missing, expected a whole number from %1 to %2</source>
        <translation>fehlt, erwartet wird eine ganze Zahl von %1 bis %2</translation>
    </message>
    <message>
        <source>is missing, expected an object</source>
        <translation>fehlt, erwartet wird ein Objekt</translation>
    </message>
    <message>
        <source>is missing; expected &quot;LORA&quot;. Is this an adapter folder?</source>
        <translation>fehlt; erwartet wird &quot;LORA&quot;. Ist das ein Adapterordner?</translation>
    </message>
    <message>
        <source>is named in %1 but is not in the folder; download it. It holds %2</source>
        <translation>wird in %1 genannt, ist aber nicht im Ordner; laden Sie sie herunter. Sie enthält %2</translation>
    </message>
    <message>
        <source>is not 0; only causal audio is implemented</source>
        <translation>ist nicht 0; möglich ist nur Audio ohne Blick voraus</translation>
    </message>
    <message>
        <source>is not 1 with rope_type &quot;%1&quot;; only proportional tables may be partial</source>
        <translation>ist nicht 1 bei rope_type &quot;%1&quot;; nur Tabellen mit proportional dürfen einen Teil betreffen</translation>
    </message>
    <message>
        <source>is not a layer index from 0 to %1</source>
        <translation>ist keine Nummer einer Schicht von 0 bis %1</translation>
    </message>
    <message>
        <source>is not a plain file</source>
        <translation>ist keine gewöhnliche Datei</translation>
    </message>
    <message>
        <source>is not a plain file (it is a folder, a pipe, a socket or a device)</source>
        <translation>ist keine gewöhnliche Datei (sondern ein Ordner, eine Pipe, ein Socket oder ein Gerät)</translation>
    </message>
    <message>
        <source>is not a plain file any more; name another</source>
        <translation>ist keine gewöhnliche Datei mehr; nennen Sie eine andere</translation>
    </message>
    <message>
        <source>is not a regular file</source>
        <translation>ist keine gewöhnliche Datei</translation>
    </message>
    <message>
        <source>is not a regular file (it is a folder, a pipe, a socket or a device)</source>
        <translation>ist keine gewöhnliche Datei (sondern ein Ordner, eine Pipe, ein Socket oder ein Gerät)</translation>
    </message>
    <message>
        <source>is not in the folder, and neither is %1; choose the folder that holds a Hugging Face model</source>
        <translation>ist nicht im Ordner, und %1 auch nicht; wählen Sie den Ordner, der ein Modell von Hugging Face enthält</translation>
    </message>
    <message>
        <source>is not in the folder, but %1 is; if it holds the whole model, rename it to model.safetensors, else download the other files and %2</source>
        <translation>ist nicht im Ordner, wohl aber %1; wenn das ganze Modell darin ist, benennen Sie es in model.safetensors um, sonst laden Sie die anderen Dateien und %2 herunter</translation>
    </message>
    <message>
        <source>is not in the folder, but %1 weight files are (%2, ...); it says which tensor is in which of them. Download it too</source>
        <translation>ist nicht im Ordner, wohl aber %1 Gewichtsdateien (%2, ...); sie sagt, welcher Tensor in welcher davon liegt. Laden Sie sie auch herunter</translation>
    </message>
    <message>
        <source>is not in the folder, but adapter_config.json is: this is an adapter; open its base model and add the adapter to it</source>
        <translation>ist nicht im Ordner, wohl aber adapter_config.json: Das ist ein Adapter; öffnen Sie sein Basismodell und fügen Sie den Adapter hinzu</translation>
    </message>
    <message>
        <source>is not the name of a file; name one</source>
        <translation>ist kein Dateiname; nennen Sie einen</translation>
    </message>
    <message>
        <source>is set: %1</source>
        <translation>ist gesetzt: %1</translation>
    </message>
    <message>
        <source>is set; normalization per mel bin is not implemented</source>
        <translation>ist gesetzt; eine Normierung je Mel-Band gibt es hier nicht</translation>
    </message>
    <message>
        <source>is true together with load_in_4bit</source>
        <translation>ist true zusammen mit load_in_4bit</translation>
    </message>
    <message>
        <source>is true with a mean other than 0 or a deviation other than 1; that is not implemented</source>
        <translation>ist true mit einem Mittelwert ungleich 0 oder einer Abweichung ungleich 1; das gibt es hier nicht</translation>
    </message>
    <message>
        <source>is true; 8-bit (LLM.int8) checkpoints cannot be read, 4-bit and unquantized ones can</source>
        <translation>ist true; Checkpoints mit 8 Bit (LLM.int8) sind nicht lesbar, solche mit 4 Bit und unquantisierte sind es</translation>
    </message>
    <message>
        <source>is true; attention biases are not implemented</source>
        <translation>ist true; Verschiebungen (bias) in der Attention gibt es hier nicht</translation>
    </message>
    <message>
        <source>is true; biases are not implemented</source>
        <translation>ist true; Verschiebungen (bias) gibt es hier nicht</translation>
    </message>
    <message>
        <source>it has %1 bytes, its shape and type need %2</source>
        <translation>er hat %1 Bytes, nach Form und Typ braucht er %2</translation>
    </message>
    <message>
        <source>it has been downloaded to %1; give that</source>
        <translation>es wurde nach %1 heruntergeladen; geben Sie das an</translation>
    </message>
    <message>
        <source>it has more than 8 dimensions</source>
        <translation>er hat mehr als 8 Dimensionen</translation>
    </message>
    <message>
        <source>it has no element type or no data</source>
        <translation>er hat keinen Elementtyp oder keine Daten</translation>
    </message>
    <message>
        <source>it uses an unknown feature</source>
        <translation>sie benutzt eine unbekannte Eigenschaft</translation>
    </message>
    <message>
        <source>its %1 bits do not fill whole bytes</source>
        <translation>seine %1 Bits füllen keine ganzen Bytes</translation>
    </message>
    <message>
        <source>its data_offsets are %1 to %2, expected a range that begins at %3 (no holes, no overlaps)</source>
        <translation>seine data_offsets sind %1 bis %2, erwartet wird ein Bereich, der bei %3 beginnt (ohne Lücken und Überschneidungen)</translation>
    </message>
    <message>
        <source>its folder cannot be opened: %1</source>
        <translation>sein Ordner lässt sich nicht öffnen: %1</translation>
    </message>
    <message>
        <source>its header length is %1 bytes, at most 100000000 are allowed; is this a safetensors file?</source>
        <translation>die Länge des Headers ist %1 Bytes, erlaubt sind höchstens 100000000; ist das eine safetensors-Datei?</translation>
    </message>
    <message>
        <source>its header should have %1 bytes, but the file has %2 in all; it was cut short, download it again</source>
        <translation>der Header sollte %1 Bytes haben, aber die Datei hat im Ganzen %2; sie wurde abgeschnitten, laden Sie sie noch einmal herunter</translation>
    </message>
    <message>
        <source>its size does not fit 64 bits</source>
        <translation>seine Größe passt nicht in 64 Bit</translation>
    </message>
    <message>
        <source>its size is out of range</source>
        <translation>seine Größe ist außerhalb des Erlaubten</translation>
    </message>
    <message>
        <source>layer %1</source>
        <translation>Schicht %1</translation>
    </message>
    <message>
        <source>letters outside of ASCII together with (?i)</source>
        <translation>Buchstaben außerhalb von ASCII zusammen mit (?i)</translation>
    </message>
    <message>
        <source>limit for %1: expected cpu, cuda:N or sim:N</source>
        <translation>Grenze für %1: erwartet wird cpu, cuda:N oder sim:N</translation>
    </message>
    <message>
        <source>lm_head.weight: config.json says that the output head is not the token embedding (&quot;tie_word_embeddings&quot;: false), and the weight files hold no lm_head.weight; get the file that holds it, or say true there if the model has one table for both</source>
        <translation>lm_head.weight: config.json sagt, dass der Ausgabekopf nicht die Token-Einbettung ist (&quot;tie_word_embeddings&quot;: false), und die Gewichtsdateien enthalten kein lm_head.weight; beschaffen Sie die Datei, die es enthält, oder setzen Sie dort true, wenn das Modell für beide eine Tabelle hat</translation>
    </message>
    <message>
        <source>loading %1 needed more memory than the system gave; close other programs, or choose a smaller context or a smaller format</source>
        <translation>das Laden von %1 brauchte mehr Speicher, als das System gab; schließen Sie andere Programme, oder wählen Sie einen kleineren Kontext oder ein kleineres Format</translation>
    </message>
    <message>
        <source>loading the adapter was cancelled</source>
        <translation>das Laden des Adapters wurde abgebrochen</translation>
    </message>
    <message>
        <source>loading was cancelled; nothing was changed</source>
        <translation>das Laden wurde abgebrochen; verändert ist nichts</translation>
    </message>
    <message>
        <source>logits of the last %1 tokens were asked for; the prompt has %2</source>
        <translation>verlangt wurden die Logits der letzten %1 Token; der Prompt hat %2</translation>
    </message>
    <message>
        <source>lone surrogate in a \u escape</source>
        <translation>halbes Ersatzzeichenpaar nach \u</translation>
    </message>
    <message>
        <source>lora_B.bias of the module is missing (lora_bias is true)</source>
        <translation>lora_B.bias des Moduls fehlt (lora_bias ist true)</translation>
    </message>
    <message>
        <source>lora_bias is true, which PEFT does not have for embeddings</source>
        <translation>lora_bias ist true, was es in PEFT für Einbettungen nicht gibt</translation>
    </message>
    <message>
        <source>lora_bias is true, which PEFT does not have for experts</source>
        <translation>lora_bias ist true, was es in PEFT für Experten nicht gibt</translation>
    </message>
    <message>
        <source>lora_magnitude_vector of the module is missing (use_dora is true)</source>
        <translation>lora_magnitude_vector des Moduls fehlt (use_dora ist true)</translation>
    </message>
    <message>
        <source>lossless</source>
        <translation>verlustfreies</translation>
    </message>
    <message>
        <source>malformed \u escape</source>
        <translation>fehlerhafte Angabe nach \u</translation>
    </message>
    <message>
        <source>malformed number</source>
        <translation>fehlerhafte Zahl</translation>
    </message>
    <message>
        <source>merging was cancelled</source>
        <translation>das Verschmelzen wurde abgebrochen</translation>
    </message>
    <message>
        <source>message %1: %2</source>
        <translation>Nachricht %1: %2</translation>
    </message>
    <message>
        <source>message 1: a system message holds text only; put images and audio into a user message</source>
        <translation>Nachricht 1: Eine Systemnachricht enthält nur Text; setzen Sie Bilder und Töne in eine Nachricht des Benutzers</translation>
    </message>
    <message>
        <source>model.%1: expected null, found %2</source>
        <translation>model.%1: erwartet wird null, gefunden: %2</translation>
    </message>
    <message>
        <source>model.byte_fallback: expected %1, found %2</source>
        <translation>model.byte_fallback: erwartet wird %1, gefunden: %2</translation>
    </message>
    <message>
        <source>model.dropout: expected null, found %1; random tokens are for training</source>
        <translation>model.dropout: erwartet wird null, gefunden: %1; zufällige Token sind für das Training</translation>
    </message>
    <message>
        <source>model.ignore_merges: expected false, found %1</source>
        <translation>model.ignore_merges: erwartet wird false, gefunden: %1</translation>
    </message>
    <message>
        <source>model.merges has more than %1 entries</source>
        <translation>model.merges hat mehr als %1 Einträge</translation>
    </message>
    <message>
        <source>model.merges is missing or not an array</source>
        <translation>model.merges fehlt oder ist kein Array</translation>
    </message>
    <message>
        <source>model.merges: entry %1 holds %2, expected two strings</source>
        <translation>model.merges: Eintrag %1 enthält %2, erwartet werden zwei Zeichenketten</translation>
    </message>
    <message>
        <source>model.merges: entry %1 holds more than two strings</source>
        <translation>model.merges: Eintrag %1 enthält mehr als zwei Zeichenketten</translation>
    </message>
    <message>
        <source>model.merges: entry %1 makes %2, which is not in the vocabulary</source>
        <translation>model.merges: Eintrag %1 ergibt %2, was nicht im Vokabular ist</translation>
    </message>
    <message>
        <source>model.merges: entry %1 names %2, which is not in the vocabulary</source>
        <translation>model.merges: Eintrag %1 nennt %2, was nicht im Vokabular ist</translation>
    </message>
    <message>
        <source>model.merges: entry %1 names a token of %2 bytes, expected 1 to %3</source>
        <translation>model.merges: Eintrag %1 nennt ein Token von %2 Bytes, erwartet werden 1 bis %3</translation>
    </message>
    <message>
        <source>model.merges: entry %1 repeats %2 %3</source>
        <translation>model.merges: Eintrag %1 wiederholt %2 %3</translation>
    </message>
    <message>
        <source>model.unk_token: expected a token of the vocabulary, found %1</source>
        <translation>model.unk_token: erwartet wird ein Token des Vokabulars, gefunden: %1</translation>
    </message>
    <message>
        <source>model.vocab has more than %1 entries</source>
        <translation>model.vocab hat mehr als %1 Einträge</translation>
    </message>
    <message>
        <source>model.vocab has no byte token %1; byte_fallback needs all 256</source>
        <translation>model.vocab hat kein Bytetoken %1; byte_fallback braucht alle 256</translation>
    </message>
    <message>
        <source>model.vocab is an array, as other kinds of tokenizer write it; expected an object of tokens and ids</source>
        <translation>model.vocab ist ein Array, wie es andere Arten von Tokenizern schreiben; erwartet wird ein Objekt von Token und Nummern</translation>
    </message>
    <message>
        <source>model.vocab is missing or not an object</source>
        <translation>model.vocab fehlt oder ist kein Objekt</translation>
    </message>
    <message>
        <source>model.vocab: %1 has two ids: %2 and %3</source>
        <translation>model.vocab: %1 hat zwei Nummern: %2 und %3</translation>
    </message>
    <message>
        <source>model.vocab: the id of %1 is %2, but there are %3 entries and ids run from 0 without a gap</source>
        <translation>model.vocab: Die Nummer von %1 ist %2, aber es gibt %3 Einträge, und Nummern laufen von 0 ohne Lücke</translation>
    </message>
    <message>
        <source>model.vocab: the id of %1 is %2, expected a whole number</source>
        <translation>model.vocab: Die Nummer von %1 ist %2, erwartet wird eine ganze Zahl</translation>
    </message>
    <message>
        <source>model.vocab: the id of %1 is %2, expected a whole number from 0 to %3</source>
        <translation>model.vocab: Die Nummer von %1 ist %2, erwartet wird eine ganze Zahl von 0 bis %3</translation>
    </message>
    <message>
        <source>model.vocab: the token %1 has %2 bytes, expected 1 to %3</source>
        <translation>model.vocab: Das Token %1 hat %2 Bytes, erwartet werden 1 bis %3</translation>
    </message>
    <message>
        <source>model: expected an object, found %1</source>
        <translation>model: erwartet wird ein Objekt, gefunden: %1</translation>
    </message>
    <message>
        <source>model: expected type &quot;BPE&quot;, found %1</source>
        <translation>model: erwartet wird der Typ &quot;BPE&quot;, gefunden: %1</translation>
    </message>
    <message>
        <source>more</source>
        <translation>mehr</translation>
    </message>
    <message>
        <source>more media are attached than the ids have placeholders for</source>
        <translation>angehängt sind mehr Medien, als die Nummern Platzhalter haben</translation>
    </message>
    <message>
        <source>more than %1 values</source>
        <translation>mehr als %1 Werte</translation>
    </message>
    <message>
        <source>more than %1 values outside of the vocabulary and the merges</source>
        <translation>mehr als %1 Werte außerhalb von Vokabular und merges</translation>
    </message>
    <message>
        <source>move parts of it</source>
        <translation>Teile davon verschieben</translation>
    </message>
    <message>
        <source>names %1, which modules_to_save replaces as a whole</source>
        <translation>nennt %1, und das ersetzt modules_to_save ganz</translation>
    </message>
    <message>
        <source>names layer %1 a second time (leading zeros do not count)</source>
        <translation>nennt Schicht %1 ein zweites Mal (Nullen davor zählen nicht)</translation>
    </message>
    <message>
        <source>names more than 500 shards</source>
        <translation>nennt mehr als 500 Teildateien</translation>
    </message>
    <message>
        <source>names more than 64 modules</source>
        <translation>nennt mehr als 64 Module</translation>
    </message>
    <message>
        <source>needs layers_to_transform beside it</source>
        <translation>braucht layers_to_transform daneben</translation>
    </message>
    <message>
        <source>nested deeper than %1 levels</source>
        <translation>tiefer als %1 Ebenen verschachtelt</translation>
    </message>
    <message>
        <source>nested_blocksize, nested_dtype and nested_offset together or none of them; %1 is absent</source>
        <translation>nested_blocksize, nested_dtype und nested_offset zusammen oder keines davon; %1 fehlt</translation>
    </message>
    <message>
        <source>no adapter with id %1</source>
        <translation>keinen Adapter hat die Nummer %1</translation>
    </message>
    <message>
        <source>no host memory for %1 bytes of rows on their way to a GPU; lower the prefill chunk</source>
        <translation>kein Arbeitsspeicher für %1 Bytes Zeilen auf ihrem Weg zu einer GPU; lesen Sie Prompts in kleineren Stücken</translation>
    </message>
    <message>
        <source>no key .%1</source>
        <translation>kein Schlüssel .%1</translation>
    </message>
    <message>
        <source>no key .SCB</source>
        <translation>kein Schlüssel .SCB</translation>
    </message>
    <message>
        <source>no memory for %1 read buffers of %2 bytes; close other programs</source>
        <translation>kein Speicher für %1 Lesepuffer zu %2 Bytes; schließen Sie andere Programme</translation>
    </message>
    <message>
        <source>no memory is left to read %1; close other programs or move parts of the model to another device, then send it again</source>
        <translation>es ist kein Speicher mehr da, um das zu lesen: %1; schließen Sie andere Programme oder verschieben Sie Teile des Modells auf ein anderes Gerät, und senden Sie es dann noch einmal</translation>
    </message>
    <message>
        <source>no memory to hold %1 while tensors change places</source>
        <translation>kein Speicher, um %1 zu halten, während Tensoren den Platz wechseln</translation>
    </message>
    <message>
        <source>no memory to read the weights; close other programs</source>
        <translation>kein Speicher zum Lesen der Gewichte; schließen Sie andere Programme</translation>
    </message>
    <message>
        <source>no model folder was given</source>
        <translation>es ist kein Modellordner angegeben</translation>
    </message>
    <message>
        <source>no model is loaded</source>
        <translation>es ist kein Modell geladen</translation>
    </message>
    <message>
        <source>no nested keys, since the state has none</source>
        <translation>keine verschachtelten Schlüssel, denn der Zustand hat keine</translation>
    </message>
    <message>
        <source>no room for %1 bytes of the adapter (%2): %3 bytes are in use</source>
        <translation>kein Platz für %1 Bytes des Adapters (%2): %3 Bytes sind belegt</translation>
    </message>
    <message>
        <source>no room for %1 bytes of the adapter (%2): %3 bytes are in use of %4</source>
        <translation>kein Platz für %1 Bytes des Adapters (%2): %3 Bytes von %4 sind belegt</translation>
    </message>
    <message>
        <source>no such tensor</source>
        <translation>kein solcher Tensor</translation>
    </message>
    <message>
        <source>none</source>
        <translation>nichts</translation>
    </message>
    <message>
        <source>normalizer: expected none in a byte-level file, found %1</source>
        <translation>normalizer: in einer Datei auf Byte-Ebene wird keiner erwartet, gefunden: %1</translation>
    </message>
    <message>
        <source>normalizer: expected Replace of a space by U+2581, alone or behind Prepend of one, found %1</source>
        <translation>normalizer: erwartet wird Replace eines Leerzeichens durch U+2581, allein oder hinter Prepend eines solchen, gefunden: %1</translation>
    </message>
    <message>
        <source>normalizer: Prepend is not implemented beside added tokens that match in normalized text, as %1 does</source>
        <translation>normalizer: Prepend geht nicht neben Zusatz-Token, die in normalisiertem Text gelten, wie %1</translation>
    </message>
    <message>
        <source>not UTF-8</source>
        <translation>kein UTF-8</translation>
    </message>
    <message>
        <source>not a Jinja template: %1</source>
        <translation>keine Jinja-Vorlage: %1</translation>
    </message>
    <message>
        <source>not a valid pattern: &quot;%1&quot; (%2)</source>
        <translation>kein gültiges Muster: &quot;%1&quot; (%2)</translation>
    </message>
    <message>
        <source>not enough memory</source>
        <translation>nicht genug Speicher</translation>
    </message>
    <message>
        <source>not valid JSON: %1</source>
        <translation>kein gültiges JSON: %1</translation>
    </message>
    <message>
        <source>not valid JSON: %1 (at byte %2)</source>
        <translation>kein gültiges JSON: %1 (bei Byte %2)</translation>
    </message>
    <message>
        <source>nothing</source>
        <translation>nichts</translation>
    </message>
    <message>
        <source>nothing can be heard at %1 s: the recording ends before, or is damaged there</source>
        <translation>bei %1 s ist nichts zu hören: Die Aufnahme endet davor oder ist dort beschädigt</translation>
    </message>
    <message>
        <source>nothing to merge: no adapter was given</source>
        <translation>nichts zu verschmelzen: Es ist kein Adapter angegeben</translation>
    </message>
    <message>
        <source>nothing to repeat</source>
        <translation>nichts zu wiederholen</translation>
    </message>
    <message>
        <source>null</source>
        <translation>null</translation>
    </message>
    <message>
        <source>one U8</source>
        <translation>ein U8</translation>
    </message>
    <message>
        <source>one key .quant_state.bitsandbytes__nf4 or __fp4</source>
        <translation>ein Schlüssel .quant_state.bitsandbytes__nf4 oder __fp4</translation>
    </message>
    <message>
        <source>opening the model was cancelled</source>
        <translation>das Öffnen des Modells wurde abgebrochen</translation>
    </message>
    <message>
        <source>out of memory</source>
        <translation>kein Speicher mehr</translation>
    </message>
    <message>
        <source>packed codes</source>
        <translation>gepackte Codes</translation>
    </message>
    <message>
        <source>patch size %1 with pooling %2: both must be from 1 to %3</source>
        <translation>Feldgröße %1 mit Zusammenfassung %2: beide müssen von 1 bis %3 sein</translation>
    </message>
    <message>
        <source>pictures</source>
        <translation>Bilder</translation>
    </message>
    <message>
        <source>placing the adapter was cancelled</source>
        <translation>das Platzieren des Adapters wurde abgebrochen</translation>
    </message>
    <message>
        <source>post_processor: %1 has the id %2, expected a token from 0 to %3</source>
        <translation>post_processor: %1 hat die Nummer %2, erwartet wird ein Token von 0 bis %3</translation>
    </message>
    <message>
        <source>post_processor: single has no place for the text</source>
        <translation>post_processor: single hat keinen Platz für den Text</translation>
    </message>
    <message>
        <source>post_processor: single holds a step that is neither a special token nor the one text</source>
        <translation>post_processor: single enthält einen Schritt, der weder ein besonderes Token noch der eine Text ist</translation>
    </message>
    <message>
        <source>post_processor: single is not an array</source>
        <translation>post_processor: single ist kein Array</translation>
    </message>
    <message>
        <source>post_processor: special_tokens gives no ids for %1</source>
        <translation>post_processor: special_tokens gibt für %1 keine Nummern</translation>
    </message>
    <message>
        <source>pre_tokenizer: expected ByteLevel without a prefix space, behind a few steps Digits and Split by the expression of GPT-2 or Llama 3, found %1 as one of %2 steps</source>
        <translation>pre_tokenizer: erwartet wird ByteLevel ohne vorangestelltes Leerzeichen, davor wenige Schritte Digits und Split mit dem Ausdruck von GPT-2 oder Llama 3, gefunden: %1 als einer von %2 Schritten</translation>
    </message>
    <message>
        <source>pre_tokenizer: expected none, or Split on a space merged with the previous piece, found %1</source>
        <translation>pre_tokenizer: erwartet wird keiner, oder Split an einem Leerzeichen, das zum vorigen Stück kommt, gefunden: %1</translation>
    </message>
    <message>
        <source>puts the tensor %1 into %2, but that file does not hold it; the files belong to different downloads</source>
        <translation>verweist für den Tensor %1 auf %2, aber diese Datei enthält ihn nicht; die Dateien stammen aus verschiedenen Downloads</translation>
    </message>
    <message>
        <source>range() of this form</source>
        <translation>range() in dieser Form</translation>
    </message>
    <message>
        <source>rank %1 is outside 1 to %2</source>
        <translation>Rang %1 liegt nicht zwischen 1 und %2</translation>
    </message>
    <message>
        <source>rank %1 of %2 experts, %3 is %4</source>
        <translation>Rang %1 von %2 Experten, %3 ist %4</translation>
    </message>
    <message>
        <source>rank %1, %2 is %3</source>
        <translation>Rang %1, %2 ist %3</translation>
    </message>
    <message>
        <source>reading %1 back from its device failed</source>
        <translation>das Zurücklesen von %1 von seinem Gerät ist misslungen</translation>
    </message>
    <message>
        <source>reading %1 needed more memory than the system gave; close other programs, or choose a smaller context or a smaller format</source>
        <translation>das Lesen von %1 brauchte mehr Speicher, als das System gab; schließen Sie andere Programme, oder wählen Sie einen kleineren Kontext oder ein kleineres Format</translation>
    </message>
    <message>
        <source>reading at byte %1 failed: %2</source>
        <translation>das Lesen bei Byte %1 ist misslungen: %2</translation>
    </message>
    <message>
        <source>reading rows of %1 from %2 failed</source>
        <translation>das Lesen von Zeilen von %1 von %2 ist misslungen</translation>
    </message>
    <message>
        <source>reading stopped after %1 of %2</source>
        <translation>das Lesen endete nach %1 von %2</translation>
    </message>
    <message>
        <source>reading the recording was stopped</source>
        <translation>das Lesen der Aufnahme wurde angehalten</translation>
    </message>
    <message>
        <source>reading weights back from a device failed</source>
        <translation>das Zurücklesen von Gewichten von einem Gerät ist misslungen</translation>
    </message>
    <message>
        <source>recordings</source>
        <translation>Aufnahmen</translation>
    </message>
    <message>
        <source>renaming the finished file failed: %1</source>
        <translation>das Umbenennen der fertigen Datei ist misslungen: %1</translation>
    </message>
    <message>
        <source>repeats layers and so changes the architecture of the base</source>
        <translation>wiederholt Schichten und verändert so die Architektur der Basis</translation>
    </message>
    <message>
        <source>replaced rows together with a low-rank update of the same embedding are not supported</source>
        <translation>ersetzte Zeilen zusammen mit einem Zusatz niedrigen Rangs zur selben Einbettung gibt es hier nicht</translation>
    </message>
    <message>
        <source>replaced rows together with a replaced table of the same embedding are not supported</source>
        <translation>ersetzte Zeilen zusammen mit einer ersetzten Tabelle derselben Einbettung gibt es hier nicht</translation>
    </message>
    <message>
        <source>replaces token %1, the vocabulary has %2</source>
        <translation>ersetzt Token %1, das Vokabular hat %2</translation>
    </message>
    <message>
        <source>room for factors that travel</source>
        <translation>Platz für wandernde Faktoren</translation>
    </message>
    <message>
        <source>routing between adapters (Arrow) is not implemented</source>
        <translation>die Wahl zwischen Adaptern (Arrow) gibt es hier nicht</translation>
    </message>
    <message>
        <source>sample %1 of channel %2 is %3, expected a number between -1 and 1; save the recording again with normal volume</source>
        <translation>Abtastwert %1 von Kanal %2 ist %3, erwartet wird eine Zahl zwischen -1 und 1; speichern Sie die Aufnahme noch einmal mit normaler Lautstärke</translation>
    </message>
    <message>
        <source>sample %1 of the clip is not a number</source>
        <translation>Abtastwert %1 der Aufnahme ist keine Zahl</translation>
    </message>
    <message>
        <source>sampling option %1: expected %2, found %3</source>
        <translation>Einstellung %1: erwartet wird %2, gefunden: %3</translation>
    </message>
    <message>
        <source>shape %1, expected %2 (%3)</source>
        <translation>Form %1, erwartet wird %2 (%3)</translation>
    </message>
    <message>
        <source>shape and dtype need %1 bytes, data_offsets %2 to %3 give %4</source>
        <translation>shape und dtype brauchen %1 Bytes, data_offsets %2 bis %3 ergeben %4</translation>
    </message>
    <message>
        <source>shape is %1, expected a list</source>
        <translation>shape ist %1, erwartet wird eine Liste</translation>
    </message>
    <message>
        <source>shape:%1: has random weights and no %2; give a model folder</source>
        <translation>shape:%1: hat zufällige Gewichte und nicht %2; geben Sie einen Modellordner an</translation>
    </message>
    <message>
        <source>single characters of a text that is not ASCII</source>
        <translation>einzelne Zeichen eines Texts, der nicht ASCII ist</translation>
    </message>
    <message>
        <source>something else</source>
        <translation>etwas anderes</translation>
    </message>
    <message>
        <source>stopped</source>
        <translation>beendet</translation>
    </message>
    <message>
        <source>stopped by the user</source>
        <translation>vom Benutzer angehalten</translation>
    </message>
    <message>
        <source>string longer than %1 bytes</source>
        <translation>Zeichenkette länger als %1 Bytes</translation>
    </message>
    <message>
        <source>take adapters</source>
        <translation>Adapter annehmen</translation>
    </message>
    <message>
        <source>take pictures and sounds</source>
        <translation>Bilder und Töne annehmen</translation>
    </message>
    <message>
        <source>tensor %1 has %2 bytes, bytes %3 to %4 were asked for</source>
        <translation>Tensor %1 hat %2 Bytes, verlangt wurden die Bytes %3 bis %4</translation>
    </message>
    <message>
        <source>tensor %1 is described by %2, expected an object</source>
        <translation>die Beschreibung von Tensor %1 ist %2, erwartet wird ein Objekt</translation>
    </message>
    <message>
        <source>tensor %1: %2</source>
        <translation>Tensor %1: %2</translation>
    </message>
    <message>
        <source>text</source>
        <translation>Text</translation>
    </message>
    <message>
        <source>text after the end of the JSON value</source>
        <translation>Text nach dem Ende des JSON-Werts</translation>
    </message>
    <message>
        <source>the %1 data is damaged after %2 seconds: %3</source>
        <translation>die %1-Daten sind nach %2 Sekunden beschädigt: %3</translation>
    </message>
    <message>
        <source>the %1 data is truncated or damaged: %2 samples are declared, %3 could be read</source>
        <translation>die %1-Daten sind abgeschnitten oder beschädigt: %2 Abtastwerte sind angegeben, %3 waren lesbar</translation>
    </message>
    <message>
        <source>the %1 file cannot be opened: %2</source>
        <translation>die %1-Datei lässt sich nicht öffnen: %2</translation>
    </message>
    <message>
        <source>the %1 file holds no samples</source>
        <translation>die %1-Datei enthält keine Abtastwerte</translation>
    </message>
    <message>
        <source>the %1 file holds no samples that can be read</source>
        <translation>die %1-Datei enthält keine lesbaren Abtastwerte</translation>
    </message>
    <message>
        <source>the %1 file holds no samples: it declares %2 bytes of them, %3 follow</source>
        <translation>die %1-Datei enthält keine Abtastwerte: Sie gibt %2 Bytes davon an, es folgen %3</translation>
    </message>
    <message>
        <source>the KV cache can move between devices but not change its context, chunk or type; start a new cache for that</source>
        <translation>der KV-Cache kann zwischen Geräten wandern, aber Kontext, Stückgröße und Typ nicht wechseln; beginnen Sie dafür einen neuen Cache</translation>
    </message>
    <message>
        <source>the adapter acts only after an invocation sequence (aLoRA), which is not implemented</source>
        <translation>der Adapter wirkt erst nach einer Aufruffolge (aLoRA), und die gibt es hier nicht</translation>
    </message>
    <message>
        <source>the adapter at %1</source>
        <translation>der Adapter an %1</translation>
    </message>
    <message>
        <source>the adapter was made for another model</source>
        <translation>der Adapter ist für ein anderes Modell gemacht</translation>
    </message>
    <message>
        <source>the bit stream is damaged</source>
        <translation>der Datenstrom ist beschädigt</translation>
    </message>
    <message>
        <source>the cache folder %1 does not exist and cannot be created</source>
        <translation>den Ordner %1 für quantisierte Kopien gibt es nicht, und er lässt sich nicht anlegen</translation>
    </message>
    <message>
        <source>the cache folder %1 does not exist and cannot be created: %2</source>
        <translation>den Ordner %1 für quantisierte Kopien gibt es nicht, und er lässt sich nicht anlegen: %2</translation>
    </message>
    <message>
        <source>the cache folder %1 is a file, not a folder: name another</source>
        <translation>der Ordner %1 für quantisierte Kopien ist eine Datei, kein Ordner: Nennen Sie einen anderen</translation>
    </message>
    <message>
        <source>the chat has no message; give at least one</source>
        <translation>das Gespräch hat keine Nachricht; geben Sie mindestens eine</translation>
    </message>
    <message>
        <source>the context is full: %1 tokens are held, %2 more do not fit into %3; start a new chat, or reload with a larger --context</source>
        <translation>der Kontext ist voll: %1 Token sind darin, %2 weitere passen nicht in %3; beginnen Sie ein neues Gespräch, oder laden Sie mit einem größeren --context neu</translation>
    </message>
    <message>
        <source>the demo model is not installed beside this program; give a model folder</source>
        <translation>das Beispielmodell ist nicht neben diesem Programm installiert; geben Sie einen Modellordner an</translation>
    </message>
    <message>
        <source>the disk of the cache folder has only %1 MiB left, the weight cache needs %2 MiB</source>
        <translation>auf dem Datenträger der quantisierten Kopien sind nur %1 MiB frei, die Kopie braucht %2 MiB</translation>
    </message>
    <message>
        <source>the engine that runs this model cannot %1; load the model on this computer for that</source>
        <translation>das Rechenwerk, auf dem dieses Modell läuft, kann nicht %1; laden Sie das Modell dafür auf diesem Computer</translation>
    </message>
    <message>
        <source>the escape \%1 inside a class</source>
        <translation>die Angabe \%1 in einer Klasse</translation>
    </message>
    <message>
        <source>the file has %1 bytes, at most %2 are read</source>
        <translation>die Datei hat %1 Bytes, gelesen werden höchstens %2</translation>
    </message>
    <message>
        <source>the file has %1, at most %2 are read; give a smaller version of it</source>
        <translation>die Datei hat %1, gelesen werden höchstens %2; geben Sie eine kleinere Fassung davon</translation>
    </message>
    <message>
        <source>the file is truncated</source>
        <translation>die Datei ist abgeschnitten</translation>
    </message>
    <message>
        <source>the file name holds &apos;:&apos; (a drive letter or an alternate stream)</source>
        <translation>der Dateiname enthält &apos;:&apos; (einen Laufwerksbuchstaben oder einen alternativen Datenstrom)</translation>
    </message>
    <message>
        <source>the file name holds a control character</source>
        <translation>der Dateiname enthält ein Steuerzeichen</translation>
    </message>
    <message>
        <source>the file name holds a folder separator; files must lie in the model folder itself</source>
        <translation>der Dateiname enthält ein Trennzeichen für Ordner; Dateien müssen im Modellordner selbst liegen</translation>
    </message>
    <message>
        <source>the file name is a device name on Windows</source>
        <translation>der Dateiname ist unter Windows der Name eines Geräts</translation>
    </message>
    <message>
        <source>the file name is a folder reference</source>
        <translation>der Dateiname verweist auf einen Ordner</translation>
    </message>
    <message>
        <source>the file name is empty</source>
        <translation>der Dateiname ist leer</translation>
    </message>
    <message>
        <source>the file name is longer than 255 bytes</source>
        <translation>der Dateiname ist länger als 255 Bytes</translation>
    </message>
    <message>
        <source>the file name is not UTF-8</source>
        <translation>der Dateiname ist kein UTF-8</translation>
    </message>
    <message>
        <source>the files do not hold this tensor; in its place they have %1, which the architecture does not: they come from another program or from another version of the model. Use the model&apos;s original files</source>
        <translation>die Dateien enthalten diesen Tensor nicht; an seiner Stelle haben sie %1, was die Architektur nicht hat: Sie kommen von einem anderen Programm oder aus einer anderen Fassung des Modells. Nehmen Sie die Originaldateien des Modells</translation>
    </message>
    <message>
        <source>the files hold %1 in its place: %2, which cannot be read; use the 16-bit model or a bitsandbytes 4-bit one</source>
        <translation>die Dateien enthalten an seiner Stelle %1: %2, und das ist nicht lesbar; nehmen Sie das 16-Bit-Modell oder eines mit 4 Bit von bitsandbytes</translation>
    </message>
    <message>
        <source>the files hold a PEFT model with its adapter beside the base (%1, %2): running the base alone would leave the adapter out. Merge it (merge_and_unload) and save the model, or save the adapter by itself and add it to the base model</source>
        <translation>die Dateien enthalten ein PEFT-Modell mit seinem Adapter neben der Basis (%1, %2): Liefe die Basis allein, so bliebe der Adapter weg. Verschmelzen Sie ihn (merge_and_unload) und speichern Sie das Modell, oder speichern Sie den Adapter für sich und fügen Sie ihn zum Basismodell hinzu</translation>
    </message>
    <message>
        <source>the files hold it as %1 (%2 tensors have names that begin with &quot;%3&quot;), as a program saved it that had put the model into one of its own; save it from the model itself, or rename the tensors: &quot;%3&quot; to &quot;%4&quot;</source>
        <translation>die Dateien enthalten ihn als %1 (%2 Tensoren haben Namen, die mit &quot;%3&quot; beginnen), wie ihn ein Programm gespeichert hat, das das Modell in ein eigenes gesetzt hatte; speichern Sie ihn aus dem Modell selbst, oder benennen Sie die Tensoren um: &quot;%3&quot; in &quot;%4&quot;</translation>
    </message>
    <message>
        <source>the files hold nothing of the %1: they were saved without, but config.json still describes it. Set %2 to null in config.json to run the model without, or download the whole model</source>
        <translation>die Dateien enthalten nichts für: %1. Sie wurden ohne gespeichert, aber config.json beschreibt es noch. Setzen Sie %2 in config.json auf null, damit das Modell ohne läuft, oder laden Sie das ganze Modell herunter</translation>
    </message>
    <message>
        <source>the files of this model have to be looked up once more</source>
        <translation>die Dateien dieses Modells müssen noch einmal nachgesehen werden</translation>
    </message>
    <message>
        <source>the filter &quot;%1&quot;</source>
        <translation>den Filter &quot;%1&quot;</translation>
    </message>
    <message>
        <source>the folder %1 does not exist; make it or name another place</source>
        <translation>den Ordner %1 gibt es nicht; legen Sie ihn an oder nennen Sie einen anderen Ort</translation>
    </message>
    <message>
        <source>the function &quot;%1&quot;</source>
        <translation>die Funktion &quot;%1&quot;</translation>
    </message>
    <message>
        <source>the header describes %1 bytes of data, the file holds %2; it was cut short, download it again</source>
        <translation>der Header beschreibt %1 Bytes Daten, die Datei enthält %2; sie wurde abgeschnitten, laden Sie sie noch einmal herunter</translation>
    </message>
    <message>
        <source>the header describes %1 bytes of data, the file holds %2; there are surplus bytes at its end</source>
        <translation>der Header beschreibt %1 Bytes Daten, die Datei enthält %2; an ihrem Ende sind überzählige Bytes</translation>
    </message>
    <message>
        <source>the header has %1 bytes, at most 100000000 are allowed</source>
        <translation>der Header hat %1 Bytes, erlaubt sind höchstens 100000000</translation>
    </message>
    <message>
        <source>the header is %1, expected an object</source>
        <translation>der Header ist %1, erwartet wird ein Objekt</translation>
    </message>
    <message>
        <source>the header is longer than the file</source>
        <translation>der Header ist länger als die Datei</translation>
    </message>
    <message>
        <source>the header is nested deeper than 4 levels (at byte %1)</source>
        <translation>der Header ist tiefer als 4 Ebenen verschachtelt (bei Byte %1)</translation>
    </message>
    <message>
        <source>the header is not UTF-8</source>
        <translation>der Header ist kein UTF-8</translation>
    </message>
    <message>
        <source>the header is not valid JSON: %1 (at byte %2)</source>
        <translation>der Header ist kein gültiges JSON: %1 (bei Byte %2)</translation>
    </message>
    <message>
        <source>the ids hold a run of %1 %2 placeholders as item %3; the attached media do not give that many soft tokens</source>
        <translation>die Nummern enthalten %1 Platzhalter (%2) in Folge als Nummer %3; die angehängten Medien ergeben nicht so viele Token</translation>
    </message>
    <message>
        <source>the length of a number</source>
        <translation>die Länge einer Zahl</translation>
    </message>
    <message>
        <source>the logits</source>
        <translation>die Logits</translation>
    </message>
    <message>
        <source>the logits needed more memory than the system gave; close other programs, or choose a smaller context or a smaller format</source>
        <translation>die Logits brauchten mehr Speicher, als das System gab; schließen Sie andere Programme, oder wählen Sie einen kleineren Kontext oder ein kleineres Format</translation>
    </message>
    <message>
        <source>the member &quot;%1&quot; occurs twice</source>
        <translation>der Eintrag &quot;%1&quot; kommt zweimal vor</translation>
    </message>
    <message>
        <source>the member &quot;%1&quot; occurs twice in one object</source>
        <translation>der Eintrag &quot;%1&quot; steht zweimal in einem Objekt</translation>
    </message>
    <message>
        <source>the member %1 is missing</source>
        <translation>der Eintrag %1 fehlt</translation>
    </message>
    <message>
        <source>the member %1 occurs twice</source>
        <translation>der Eintrag %1 kommt zweimal vor</translation>
    </message>
    <message>
        <source>the method &quot;%1&quot;</source>
        <translation>die Methode &quot;%1&quot;</translation>
    </message>
    <message>
        <source>the model files do not hold this tensor (they hold %1 of the %2 that config.json implies); download the model again</source>
        <translation>die Modelldateien enthalten diesen Tensor nicht (sie enthalten %1 der %2, die aus config.json folgen); laden Sie das Modell noch einmal herunter</translation>
    </message>
    <message>
        <source>the model files do not hold this tensor (they hold %1 of the %2 that config.json implies, and others such as %3); they belong to another model or to another program&apos;s format</source>
        <translation>die Modelldateien enthalten diesen Tensor nicht (sie enthalten %1 der %2, die aus config.json folgen, und andere wie %3); sie gehören zu einem anderen Modell oder haben das Format eines anderen Programms</translation>
    </message>
    <message>
        <source>the model folder holds no weights, only headers or config.json: it can be planned, not loaded. Download its .safetensors files.</source>
        <translation>der Modellordner enthält keine Gewichte, nur Header oder config.json: Er lässt sich planen, nicht laden. Laden Sie seine .safetensors-Dateien herunter.</translation>
    </message>
    <message>
        <source>the module&apos;s shape %1</source>
        <translation>die Form des Moduls %1</translation>
    </message>
    <message>
        <source>the move needed more memory than the system gave; close other programs, or choose a smaller context or a smaller format</source>
        <translation>das Verschieben brauchte mehr Speicher, als das System gab; schließen Sie andere Programme, oder wählen Sie einen kleineren Kontext oder ein kleineres Format</translation>
    </message>
    <message>
        <source>the number %1 is not a plain whole number from 0 to 2^48</source>
        <translation>die Zahl %1 ist keine einfache ganze Zahl von 0 bis 2^48</translation>
    </message>
    <message>
        <source>the output folder is the model folder; models are never changed</source>
        <translation>der Zielordner ist der Modellordner; Modelle werden nie verändert</translation>
    </message>
    <message>
        <source>the part of the recording must start at 0 seconds or later and have more than 0 and at most %1 seconds</source>
        <translation>der Teil der Aufnahme muss bei 0 Sekunden oder später beginnen und mehr als 0 und höchstens %1 Sekunden haben</translation>
    </message>
    <message>
        <source>the part starts after the end of the recording, which has %1 seconds</source>
        <translation>der Teil beginnt nach dem Ende der Aufnahme, die %1 Sekunden hat</translation>
    </message>
    <message>
        <source>the part starts at %1 s, after the end of the recording, which has %2 s; choose an earlier part</source>
        <translation>der Teil beginnt bei %1 s, nach dem Ende der Aufnahme, die %2 s hat; wählen Sie einen früheren Teil</translation>
    </message>
    <message>
        <source>the pattern has %1 bytes, at most %2 are read</source>
        <translation>das Muster hat %1 Bytes, gelesen werden höchstens %2</translation>
    </message>
    <message>
        <source>the picture declares %1; both sides must be at least 1</source>
        <translation>das Bild gibt %1 an; beide Seiten müssen mindestens 1 sein</translation>
    </message>
    <message>
        <source>the picture has %1 (%2 megapixels), at most %3 megapixels are read; give a smaller version of it</source>
        <translation>das Bild hat %1 (%2 Megapixel), gelesen werden höchstens %3 Megapixel; geben Sie eine kleinere Fassung davon</translation>
    </message>
    <message>
        <source>the picture has %1, at most %2 along one side are read; give a smaller version or a part of it</source>
        <translation>das Bild hat %1, gelesen werden höchstens %2 je Seite; geben Sie eine kleinere Fassung oder einen Teil davon</translation>
    </message>
    <message>
        <source>the picture is empty (0 bytes)</source>
        <translation>das Bild ist leer (0 Bytes)</translation>
    </message>
    <message>
        <source>the plan computes on %1, which is not open</source>
        <translation>der Plan rechnet auf %1, und das ist nicht geöffnet</translation>
    </message>
    <message>
        <source>the plan does not fit</source>
        <translation>der Plan passt nicht</translation>
    </message>
    <message>
        <source>the plan has errors: %1: %2</source>
        <translation>der Plan hat Fehler: %1: %2</translation>
    </message>
    <message>
        <source>the plan names %1, which this engine does not have</source>
        <translation>der Plan nennt %1, und das gibt es hier nicht</translation>
    </message>
    <message>
        <source>the prompt has %1 %2 placeholders, but %3 %2 items were given; the numbers must be equal</source>
        <translation>der Prompt hat %1 Platzhalter (%2), aber gegeben sind %3 (%2); die Zahlen müssen gleich sein</translation>
    </message>
    <message>
        <source>the prompt has %1 tokens, the context holds %2; shorten the conversation or load with a larger context</source>
        <translation>der Prompt hat %1 Token, der Kontext fasst %2; kürzen Sie das Gespräch oder laden Sie mit einem größeren Kontext</translation>
    </message>
    <message>
        <source>the prompt is empty: there is nothing to answer</source>
        <translation>der Prompt ist leer: Es gibt nichts zu antworten</translation>
    </message>
    <message>
        <source>the published 4-bit code table (entry %1 is %2)</source>
        <translation>die veröffentlichte Codetabelle mit 4 Bit (Eintrag %1 ist %2)</translation>
    </message>
    <message>
        <source>the recording declares %1 channels</source>
        <translation>die Aufnahme gibt %1 Kanäle an</translation>
    </message>
    <message>
        <source>the recording declares %1 minutes, files of at most %2 minutes are read</source>
        <translation>die Aufnahme gibt %1 Minuten an, gelesen werden Dateien von höchstens %2 Minuten</translation>
    </message>
    <message>
        <source>the recording declares a sample rate of %1 Hz</source>
        <translation>die Aufnahme gibt eine Abtastrate von %1 Hz an</translation>
    </message>
    <message>
        <source>the recording has %1 channels, at most %2 are read</source>
        <translation>die Aufnahme hat %1 Kanäle, gelesen werden höchstens %2</translation>
    </message>
    <message>
        <source>the recording has %1 samples at 16 kHz (%2 seconds), the model needs at least %3</source>
        <translation>die Aufnahme hat %1 Abtastwerte bei 16 kHz (%2 Sekunden), das Modell braucht mindestens %3</translation>
    </message>
    <message>
        <source>the recording has %1 seconds, the model hears at most %2; choose a part of it</source>
        <translation>die Aufnahme hat %1 Sekunden, das Modell hört höchstens %2; wählen Sie einen Teil davon</translation>
    </message>
    <message>
        <source>the recording has a sample rate of %1 Hz, from %2 to %3 Hz are read</source>
        <translation>die Aufnahme hat eine Abtastrate von %1 Hz, gelesen werden %2 bis %3 Hz</translation>
    </message>
    <message>
        <source>the recording has more than %1 minutes, longer files are not read</source>
        <translation>die Aufnahme hat mehr als %1 Minuten, längere Dateien werden nicht gelesen</translation>
    </message>
    <message>
        <source>the recording has more than %1 seconds, the model hears at most %2; choose a part of it</source>
        <translation>die Aufnahme hat mehr als %1 Sekunden, das Modell hört höchstens %2; wählen Sie einen Teil davon</translation>
    </message>
    <message>
        <source>the recording is %1 s long, one clip may have %2 s; choose a part of it</source>
        <translation>die Aufnahme ist %1 s lang, eine darf %2 s haben; wählen Sie einen Teil davon</translation>
    </message>
    <message>
        <source>the recording is empty (0 bytes)</source>
        <translation>die Aufnahme ist leer (0 Bytes)</translation>
    </message>
    <message>
        <source>the reply needed more memory than the system gave; close other programs, or choose a smaller context or a smaller format</source>
        <translation>die Antwort brauchte mehr Speicher, als das System gab; schließen Sie andere Programme, oder wählen Sie einen kleineren Kontext oder ein kleineres Format</translation>
    </message>
    <message>
        <source>the role must be a word of 1 to 32 lower-case letters, such as user, assistant or system</source>
        <translation>die Rolle muss ein Wort aus 1 bis 32 Kleinbuchstaben sein, etwa user, assistant oder system</translation>
    </message>
    <message>
        <source>the shape has more than 8 dimensions</source>
        <translation>die Form hat mehr als 8 Dimensionen</translation>
    </message>
    <message>
        <source>the shard name &quot;%1&quot; does not end in .safetensors</source>
        <translation>der Name &quot;%1&quot; einer Teildatei endet nicht auf .safetensors</translation>
    </message>
    <message>
        <source>the shard name &quot;%1&quot; is refused: %2</source>
        <translation>der Name &quot;%1&quot; einer Teildatei ist nicht erlaubt: %2</translation>
    </message>
    <message>
        <source>the staging area of streamed and visiting weights</source>
        <translation>den Bereich für Gewichte, die nachgeladen werden oder zu Besuch sind</translation>
    </message>
    <message>
        <source>the statement &quot;%1&quot;, which is not known here</source>
        <translation>die Anweisung &quot;%1&quot;, die hier nicht bekannt ist</translation>
    </message>
    <message>
        <source>the string %1</source>
        <translation>die Zeichenkette %1</translation>
    </message>
    <message>
        <source>the string %1 (two tokens with one space between)</source>
        <translation>die Zeichenkette %1 (zwei Token mit einem Leerzeichen dazwischen)</translation>
    </message>
    <message>
        <source>the system has no memory left for making a plan; close other programs</source>
        <translation>das System hat für einen Plan keinen Speicher mehr; schließen Sie andere Programme</translation>
    </message>
    <message>
        <source>the system has no memory left for this column; close other programs or shorten the prompt</source>
        <translation>das System hat für diese Spalte keinen Speicher mehr; schließen Sie andere Programme oder kürzen Sie den Prompt</translation>
    </message>
    <message>
        <source>the system has no memory left for this; close other programs or choose smaller options</source>
        <translation>das System hat dafür keinen Speicher mehr; schließen Sie andere Programme oder wählen Sie kleinere Einstellungen</translation>
    </message>
    <message>
        <source>the template refuses this conversation: %1</source>
        <translation>die Vorlage weist dieses Gespräch ab: %1</translation>
    </message>
    <message>
        <source>the template uses %1</source>
        <translation>die Vorlage benutzt: %1</translation>
    </message>
    <message>
        <source>the tensor %1 lies in two shards, %2 and %3</source>
        <translation>der Tensor %1 liegt in zwei Teildateien, %2 und %3</translation>
    </message>
    <message>
        <source>the tensor name %1 holds a control character</source>
        <translation>der Tensorname %1 enthält ein Steuerzeichen</translation>
    </message>
    <message>
        <source>the tensor name %1 in weight_map holds a control character</source>
        <translation>der Tensorname %1 in weight_map enthält ein Steuerzeichen</translation>
    </message>
    <message>
        <source>the tensor name %1 occurs twice</source>
        <translation>der Tensorname %1 kommt zweimal vor</translation>
    </message>
    <message>
        <source>the test &quot;%1&quot;</source>
        <translation>den Test &quot;%1&quot;</translation>
    </message>
    <message>
        <source>the text ends in the middle of a JSON value</source>
        <translation>der Text endet mitten in einem JSON-Wert</translation>
    </message>
    <message>
        <source>the text ends inside a string</source>
        <translation>der Text endet mitten in einer Zeichenkette</translation>
    </message>
    <message>
        <source>the text is not UTF-8</source>
        <translation>der Text ist kein UTF-8</translation>
    </message>
    <message>
        <source>the type of its key, %1</source>
        <translation>die Art aus seinem Schlüssel, %1</translation>
    </message>
    <message>
        <source>the unknown escape \%1</source>
        <translation>die unbekannte Angabe \%1</translation>
    </message>
    <message>
        <source>there are more than 1000000 tensors</source>
        <translation>es gibt mehr als 1000000 Tensoren</translation>
    </message>
    <message>
        <source>there is no folder for the hub&apos;s cache, because neither HOME nor HF_HOME is set; set one and start again</source>
        <translation>es gibt keinen Ordner für den Cache des Hubs, weil weder HOME noch HF_HOME gesetzt ist; setzen Sie eines und starten Sie neu</translation>
    </message>
    <message>
        <source>there is no such file</source>
        <translation>eine solche Datei gibt es nicht</translation>
    </message>
    <message>
        <source>there is no such file in the folder</source>
        <translation>eine solche Datei gibt es nicht im Ordner</translation>
    </message>
    <message>
        <source>there is no such folder</source>
        <translation>einen solchen Ordner gibt es nicht</translation>
    </message>
    <message>
        <source>there is no weight file to read it from; only the configuration is here</source>
        <translation>es gibt keine Gewichtsdatei, aus der er gelesen werden könnte; hier ist nur die Konfiguration</translation>
    </message>
    <message>
        <source>they have this model&apos;s modules under another name, &quot;%1&quot; where it has &quot;%2&quot;: the adapter was made for a model that was put into another, or for another part of it. If it belongs here, rename its tensors</source>
        <translation>sie haben die Module dieses Modells unter einem anderen Namen, &quot;%1&quot;, wo es &quot;%2&quot; hat: Der Adapter ist für ein Modell gemacht, das in ein anderes gesetzt war, oder für einen anderen Teil davon. Wenn er hierher gehört, benennen Sie seine Tensoren um</translation>
    </message>
    <message>
        <source>this build has no GPU kernels</source>
        <translation>dieses Programm ist ohne GPU-Kernel gebaut</translation>
    </message>
    <message>
        <source>this build of Belfry has no network part</source>
        <translation>dieses Belfry ist ohne Netzwerkteil gebaut</translation>
    </message>
    <message>
        <source>this is a plan for another computer; loading needs one for this computer</source>
        <translation>das ist ein Plan für einen anderen Rechner; zum Laden braucht es einen für diesen</translation>
    </message>
    <message>
        <source>this is an adapter of mlx-lm, whose factors stand transposed under other names and whose scale is not PEFT&apos;s lora_alpha; convert it to PEFT&apos;s form (lora_A = lora_a transposed, lora_B = lora_b transposed, lora_alpha = scale x rank) or fuse it (mlx_lm.fuse) into the 16-bit model</source>
        <translation>das ist ein Adapter von mlx-lm, dessen Faktoren gestürzt unter anderen Namen stehen und dessen scale nicht das lora_alpha von PEFT ist; wandeln Sie ihn in die Form von PEFT um (lora_A = lora_a gestürzt, lora_B = lora_b gestürzt, lora_alpha = scale x Rang) oder verschmelzen Sie ihn (mlx_lm.fuse) mit dem 16-Bit-Modell</translation>
    </message>
    <message>
        <source>this model has no audio tower</source>
        <translation>dieses Modell hat keinen Audioturm</translation>
    </message>
    <message>
        <source>this model has no audio tower: it cannot take sound</source>
        <translation>dieses Modell hat keinen Audioturm: Es nimmt keinen Ton an</translation>
    </message>
    <message>
        <source>this model has no tokenizer: give token ids</source>
        <translation>dieses Modell hat keinen Tokenizer: Geben Sie Tokennummern an</translation>
    </message>
    <message>
        <source>this model has no vision tower</source>
        <translation>dieses Modell hat keinen Bildturm</translation>
    </message>
    <message>
        <source>this model has no vision tower: it cannot take images</source>
        <translation>dieses Modell hat keinen Bildturm: Es nimmt keine Bilder an</translation>
    </message>
    <message>
        <source>to be continued, the last message must be a reply of the model with text; ask for a new reply instead</source>
        <translation>zum Fortsetzen muss die letzte Nachricht eine Antwort des Modells mit Text sein; bitten Sie stattdessen um eine neue Antwort</translation>
    </message>
    <message>
        <source>token embeddings</source>
        <translation>Token-Einbettungen</translation>
    </message>
    <message>
        <source>token id %1 is listed twice</source>
        <translation>die Tokennummer %1 steht zweimal da</translation>
    </message>
    <message>
        <source>token id %1 is negative</source>
        <translation>die Tokennummer %1 ist negativ</translation>
    </message>
    <message>
        <source>token id %1 is outside the vocabulary of %2</source>
        <translation>die Tokennummer %1 liegt außerhalb des Vokabulars von %2</translation>
    </message>
    <message>
        <source>tokenizer.json has %1 entries, the model&apos;s vocabulary has %2</source>
        <translation>tokenizer.json hat %1 Einträge, das Vokabular des Modells hat %2</translation>
    </message>
    <message>
        <source>tokenizer.json: %1</source>
        <translation>tokenizer.json: %1</translation>
    </message>
    <message>
        <source>tokenizer.json: merges build the control token %1, so that text typed by anybody could act as one</source>
        <translation>tokenizer.json: merges bilden das Steuertoken %1, so dass Text, den irgendwer tippt, als eines wirken könnte</translation>
    </message>
    <message>
        <source>tokenizer.json: the added token %1 of the Gemma 4 chat format is missing, so that no chat prompt can be written; use a raw prompt, or the tokenizer.json of a Gemma 4 model</source>
        <translation>tokenizer.json: Das zusätzliche Token %1 des Gesprächsformats von Gemma 4 fehlt, so dass sich kein Prompt für ein Gespräch schreiben lässt; nehmen Sie einen rohen Prompt oder die tokenizer.json eines Gemma-4-Modells</translation>
    </message>
    <message>
        <source>too long a range</source>
        <translation>einen zu langen Bereich</translation>
    </message>
    <message>
        <source>too long a text</source>
        <translation>einen zu langen Text</translation>
    </message>
    <message>
        <source>too much memory, more than %1 MiB</source>
        <translation>zu viel Speicher, mehr als %1 MiB</translation>
    </message>
    <message>
        <source>too many parts</source>
        <translation>zu viele Teile</translation>
    </message>
    <message>
        <source>too long a name</source>
        <translation>einen zu langen Namen</translation>
    </message>
    <message>
        <source>too many steps</source>
        <translation>zu viele Schritte</translation>
    </message>
    <message>
        <source>%1 are no JSON object; expected one such as {&quot;city&quot;: &quot;Paris&quot;}</source>
        <translation>%1 sind kein JSON-Objekt; erwartet wird eines wie {&quot;city&quot;: &quot;Paris&quot;}</translation>
    </message>
    <message>
        <source>the parameters of the tool %1 have more than %2 members with all references followed; describe fewer</source>
        <translation>die Parameter des Werkzeugs %1 haben, allen Verweisen gefolgt, mehr als %2 Glieder; beschreiben Sie weniger</translation>
    </message>
    <message>
        <source>the parameters of the tool %1</source>
        <translation>die Parameter des Werkzeugs %1</translation>
    </message>
    <message>
        <source>message %1: a tool&apos;s result stands right behind the reply that asked for it; expected that reply before it</source>
        <translation>Nachricht %1: das Ergebnis eines Werkzeugs steht gleich hinter der Antwort, die danach gefragt hat; erwartet wird diese Antwort davor</translation>
    </message>
    <message>
        <source>message %1: it asks for tools, and their results do not follow; expected a message of the role tool for every call</source>
        <translation>Nachricht %1: sie ruft Werkzeuge auf, und deren Ergebnisse folgen nicht; erwartet wird für jeden Aufruf eine Nachricht mit der Rolle tool</translation>
    </message>
    <message>
        <source>this model&apos;s tokenizer.json has no tokens for calls of tools (&lt;|tool_call&gt; and others); ask without tools</source>
        <translation>die tokenizer.json dieses Modells hat keine Token für Aufrufe von Werkzeugen (&lt;|tool_call&gt; und andere); fragen Sie ohne Werkzeuge</translation>
    </message>
    <message>
        <source>true or false</source>
        <translation>true oder false</translation>
    </message>
    <message>
        <source>two of the adapters replace %1; merge one of them</source>
        <translation>zwei der Adapter ersetzen %1; verschmelzen Sie einen davon</translation>
    </message>
    <message>
        <source>two positive whole numbers [outputs, inputs]</source>
        <translation>zwei positive ganze Zahlen [Ausgänge, Eingänge]</translation>
    </message>
    <message>
        <source>type %1</source>
        <translation>Typ %1</translation>
    </message>
    <message>
        <source>unexpected &quot;%1&quot; in a tag</source>
        <translation>&quot;%1&quot; in einem Tag war nicht zu erwarten</translation>
    </message>
    <message>
        <source>unexpected &quot;%1&quot; in an expression</source>
        <translation>&quot;%1&quot; in einem Ausdruck war nicht zu erwarten</translation>
    </message>
    <message>
        <source>unknown data</source>
        <translation>unbekannte Daten</translation>
    </message>
    <message>
        <source>unknown escape in a string</source>
        <translation>unbekannte Angabe nach \ in einer Zeichenkette</translation>
    </message>
    <message>
        <source>use_dora is true, which PEFT does not have for experts</source>
        <translation>use_dora ist true, was es in PEFT für Experten nicht gibt</translation>
    </message>
    <message>
        <source>verbose mode ((?x))</source>
        <translation>die ausführliche Schreibweise ((?x))</translation>
    </message>
    <message>
        <source>version: expected &quot;1.0&quot;, found %1</source>
        <translation>version: erwartet wird &quot;1.0&quot;, gefunden: %1</translation>
    </message>
    <message>
        <source>video</source>
        <translation>Video</translation>
    </message>
    <message>
        <source>vision tower</source>
        <translation>Bildturm</translation>
    </message>
    <message>
        <source>weighed with about %1 tokens/s (everything on %2: %3)</source>
        <translation>abgewogen mit etwa %1 Token/s (alles auf %2: %3)</translation>
    </message>
    <message>
        <source>weighed with about %1 tokens/s (everything on %2: %3); a simulated GPU is weighed as the mid-range card it stands for, so that the choice is the card&apos;s; what it computes here has this processor&apos;s speed</source>
        <translation>abgewogen mit etwa %1 Token/s (alles auf %2: %3); eine simulierte GPU zählt als die Karte der Mittelklasse, für die sie steht, damit die Wahl die der Karte ist; was sie hier rechnet, hat das Tempo dieses Prozessors</translation>
    </message>
    <message>
        <source>weight cache: bytes %1 to %2 of %3 do not match their checksum; delete the file %4</source>
        <translation>quantisierte Kopie: Die Bytes %1 bis %2 von %3 stimmen nicht mit ihrer Prüfsumme überein; löschen Sie die Datei %4</translation>
    </message>
    <message>
        <source>weight_map gives %1 %2, expected a file name</source>
        <translation>weight_map gibt für %1: %2; erwartet wird ein Dateiname</translation>
    </message>
    <message>
        <source>weight_map is %1, expected an object</source>
        <translation>weight_map ist %1, erwartet wird ein Objekt</translation>
    </message>
    <message>
        <source>weight_map names more than 1000000 tensors</source>
        <translation>weight_map nennt mehr als 1000000 Tensoren</translation>
    </message>
    <message>
        <source>weights in blocks with scales (MXFP4)</source>
        <translation>Gewichte in Blöcken mit Skalen (MXFP4)</translation>
    </message>
    <message>
        <source>weights quantized by GPTQ or AWQ</source>
        <translation>von GPTQ oder AWQ quantisierte Gewichte</translation>
    </message>
    <message>
        <source>weights quantized by MLX</source>
        <translation>von MLX quantisierte Gewichte</translation>
    </message>
    <message>
        <source>weights quantized by another program (MLX, GPTQ, ...)</source>
        <translation>von einem anderen Programm quantisierte Gewichte (MLX, GPTQ, ...)</translation>
    </message>
    <message>
        <source>weights with scales beside them (FP8 or NVFP4)</source>
        <translation>Gewichte mit Skalen daneben (FP8 oder NVFP4)</translation>
    </message>
    <message>
        <source>without peft_version</source>
        <translation>ohne peft_version</translation>
    </message>
    <message>
        <source>a token reads %1 of %2 in each layer, about %3 more per token</source>
        <translation>ein Token liest %1 von %2 in jeder Schicht, etwa %3 mehr pro Token</translation>
    </message>
    <message>
        <source>%1 to %2</source>
        <translation>%1 auf %2</translation>
    </message>
    <message>
        <source>what costs nothing per token moves first (tables), then what costs only with media (towers), then what every token reads (head, experts, layers)</source>
        <translation>zuerst wandert, was pro Token nichts kostet (Tabellen), dann, was nur mit Medien kostet (Türme), dann, was jedes Token liest (Kopf, Experten, Schichten)</translation>
    </message>
    <message>
        <source>Which contents the model files have could not be kept, the next load reads them all: %1</source>
        <translation>Welchen Inhalt die Dateien des Modells haben, konnte nicht festgehalten werden, das nächste Laden liest sie alle: %1</translation>
    </message>
    <message>
        <source>workspace</source>
        <translation>Arbeitsbereich</translation>
    </message>
    <message>
        <source>writing failed: %1</source>
        <translation>das Schreiben ist misslungen: %1</translation>
    </message>
    <message>
        <source>writing safetensors: a tensor has an unusable name</source>
        <translation>beim Schreiben von safetensors: Ein Tensor hat einen unbrauchbaren Namen</translation>
    </message>
    <message>
        <source>writing safetensors: cancelled</source>
        <translation>beim Schreiben von safetensors: abgebrochen</translation>
    </message>
    <message>
        <source>writing safetensors: tensor %1: %2</source>
        <translation>beim Schreiben von safetensors: Tensor %1: %2</translation>
    </message>
    <message>
        <source>writing safetensors: the header would exceed 100000000 bytes</source>
        <translation>beim Schreiben von safetensors: Der Header hätte mehr als 100000000 Bytes</translation>
    </message>
    <message>
        <source>writing safetensors: the tensor name %1 is given twice</source>
        <translation>beim Schreiben von safetensors: Der Tensorname %1 ist zweimal angegeben</translation>
    </message>
    <message>
        <source>is &quot;%1&quot;, not a drafting assistant (gemma4_assistant); give the folder whose name ends in -assistant</source>
        <translation>ist „%1“, kein Entwurfsassistent (gemma4_assistant); geben Sie den Ordner an, dessen Name auf -assistant endet</translation>
    </message>
    <message>
        <source>is not 0, or the layers have experts or MLPs of two widths; assistants have plain layers</source>
        <translation>ist nicht 0, oder die Schichten haben Experten oder MLPs zweier Breiten; Assistenten haben einfache Schichten</translation>
    </message>
    <message>
        <source>is %1, which does not divide the vocabulary of %2</source>
        <translation>ist %1 und teilt das Vokabular von %2 nicht</translation>
    </message>
    <message>
        <source>the assistant does not belong to this model (%1): its %2 is %3, the model has %4; give the assistant that is named after the model, or load without drafts</source>
        <translation>der Assistent gehört nicht zu diesem Modell (%1): %2 ist %3, das Modell hat %4; geben Sie den Assistenten an, der nach dem Modell heißt, oder laden Sie ohne Entwürfe</translation>
    </message>
    <message>
        <source>layer %1&apos;s kind of attention (1 sliding, 2 full)</source>
        <translation>Art der Attention von Schicht %1 (1 gleitend, 2 voll)</translation>
    </message>
    <message>
        <source>layer %1&apos;s head_dim</source>
        <translation>head_dim von Schicht %1</translation>
    </message>
    <message>
        <source>layer %1&apos;s number of key/value heads</source>
        <translation>Zahl der Schlüssel- und Wertköpfe von Schicht %1</translation>
    </message>
    <message>
        <source>the assistant&apos;s rope_parameters are not the model&apos;s, whose keys it reads; give the assistant that is named after the model</source>
        <translation>die rope_parameters des Assistenten sind nicht die des Modells, dessen Schlüssel er liest; geben Sie den Assistenten an, der nach dem Modell heißt</translation>
    </message>
    <message>
        <source>assistant: %1 is missing; expected int64 [%2]. Download the assistant again</source>
        <translation>Assistent: %1 fehlt; erwartet wird int64 [%2]. Laden Sie den Assistenten neu herunter</translation>
    </message>
    <message>
        <source>assistant: %1 has another type or shape; expected int64 [%2]. Download the assistant again</source>
        <translation>Assistent: %1 hat einen anderen Typ oder eine andere Form; erwartet wird int64 [%2]. Laden Sie den Assistenten neu herunter</translation>
    </message>
    <message>
        <source>assistant: %1: entry %2 is %3, which stands there twice; expected every token id below %4 once. Download the assistant again</source>
        <translation>Assistent: %1: Eintrag %2 ist %3 und steht dort zweimal; erwartet wird jede Tokennummer unter %4 einmal. Laden Sie den Assistenten neu herunter</translation>
    </message>
    <message>
        <source>assistant: %1: entry %2 is %3; expected every token id below %4 once. Download the assistant again</source>
        <translation>Assistent: %1: Eintrag %2 ist %3; erwartet wird jede Tokennummer unter %4 einmal. Laden Sie den Assistenten neu herunter</translation>
    </message>
    <message>
        <source>%1: has not the %2 rows that are to be put in order</source>
        <translation>%1: hat nicht die %2 Zeilen, die zu ordnen sind</translation>
    </message>
    <message>
        <source>drafts (%1): %2</source>
        <translation>Entwürfe (%1): %2</translation>
    </message>
    <message>
        <source>there is no published assistant for a model of variant &quot;%1&quot;; give an assistant&apos;s folder, or load without drafts</source>
        <translation>für ein Modell der Variante „%1“ ist kein Assistent veröffentlicht; geben Sie den Ordner eines Assistenten an, oder laden Sie ohne Entwürfe</translation>
    </message>
    <message>
        <source>the model was loaded for text only, without its audio tower: it cannot hear recordings. Load it with its towers (without --text-only)</source>
        <translation>das Modell wurde nur für Text geladen, ohne seinen Audioturm: Es kann keine Aufnahmen hören. Laden Sie es mit seinen Türmen (ohne --text-only)</translation>
    </message>
    <message>
        <source>the model was loaded for text only, without its vision tower: it cannot see pictures. Load it with its towers (without --text-only)</source>
        <translation>das Modell wurde nur für Text geladen, ohne seinen Bildturm: Es kann keine Bilder sehen. Laden Sie es mit seinen Türmen (ohne --text-only)</translation>
    </message>
    <message>
        <source>this model has no audio tower: it cannot hear recordings</source>
        <translation>dieses Modell hat keinen Audioturm: Es kann keine Aufnahmen hören</translation>
    </message>
    <message>
        <source>this model has no vision tower: it cannot see pictures</source>
        <translation>dieses Modell hat keinen Bildturm: Es kann keine Bilder sehen</translation>
    </message>
    <message>
        <source>a picture</source>
        <translation>ein Bild</translation>
    </message>
    <message>
        <source>%1, but %2</source>
        <translation>%1, aber %2</translation>
    </message>
    <message>
        <source>a picture is attached</source>
        <translation>ein Bild ist angehängt</translation>
    </message>
    <message>
        <source>a recording is attached</source>
        <translation>eine Aufnahme ist angehängt</translation>
    </message>
    <message>
        <source>no object</source>
        <translation>kein Objekt</translation>
    </message>
    <message>
        <source>another object</source>
        <translation>ein anderes Objekt</translation>
    </message>
    <message>
        <source>%1: expected a profile of Belfry, an object with &quot;belfryProfile&quot;: 1, &quot;name&quot; and &quot;load&quot;; found: %2. Choose a file that Profiles, Export has written</source>
        <translation>%1: erwartet wird ein Profil von Belfry, ein Objekt mit &quot;belfryProfile&quot;: 1, &quot;name&quot; und &quot;load&quot;; gefunden: %2. Wählen Sie eine Datei, die Profile, Exportieren geschrieben hat</translation>
    </message>
    <message>
        <source>the file name holds a character that Windows allows in none: &lt; &gt; &quot; | ? or *</source>
        <translation>der Dateiname enthält ein Zeichen, das Windows in keinem erlaubt: &lt; &gt; &quot; | ? oder *</translation>
    </message>
    <message>
        <source>the file name ends in a dot or a blank, which Windows leaves out</source>
        <translation>der Dateiname endet mit einem Punkt oder Leerzeichen, das Windows weglässt</translation>
    </message>
    <message>
        <source>the shard name &quot;%1&quot; is refused: it differs from &quot;%2&quot; in capitals alone, and Windows has one file for both</source>
        <translation>der Shard-Name „%1“ wird abgelehnt: Er unterscheidet sich von „%2“ nur in der Großschreibung, und Windows hat eine Datei für beide</translation>
    </message>
    <message>
        <source> (it says &quot;%1&quot;)</source>
        <translation> (er sagt „%1“)</translation>
    </message>
    <message>
        <source>&quot;%1&quot; is no address of a server; expected one like https://gpu.example.org/v1 or http://localhost:8000/v1, without a user name or a password in it</source>
        <translation>„%1“ ist keine Adresse eines Servers; erwartet wird eine wie https://gpu.example.org/v1 oder http://localhost:8000/v1, ohne Benutzernamen und Passwort darin</translation>
    </message>
    <message>
        <source>&quot;choices&quot; is no list</source>
        <translation>„choices“ ist keine Liste</translation>
    </message>
    <message>
        <source>&quot;tool_calls&quot; is no list</source>
        <translation>„tool_calls“ ist keine Liste</translation>
    </message>
    <message>
        <source>%1 answers with something that is no HTTP (%2); check the address and the port</source>
        <translation>%1 antwortet mit etwas, das kein HTTP ist (%2); prüfen Sie Adresse und Port</translation>
    </message>
    <message>
        <source>%1 answers with status %2, expected 200; is it a server with the API of OpenAI?%3</source>
        <translation>%1 antwortet mit Status %2, erwartet wird 200; ist es ein Server mit der Schnittstelle von OpenAI?%3</translation>
    </message>
    <message>
        <source>%1 cannot be reached: nothing listens there, or the network is down; start the server, or check address and port (%2)</source>
        <translation>%1 ist nicht erreichbar: Dort hört niemand zu, oder das Netz ist nicht da; starten Sie den Server, oder prüfen Sie Adresse und Port (%2)</translation>
    </message>
    <message>
        <source>%1 does not let this computer in: the key is wrong, missing or may not do that; check it%2</source>
        <translation>%1 lässt diesen Computer nicht ein: Der Schlüssel ist falsch, fehlt oder darf das nicht; prüfen Sie ihn%2</translation>
    </message>
    <message>
        <source>%1 does not take so much at once; attach fewer or smaller files, or begin a new chat%2</source>
        <translation>%1 nimmt nicht so viel auf einmal; hängen Sie weniger oder kleinere Dateien an, oder beginnen Sie einen neuen Chat%2</translation>
    </message>
    <message>
        <source>%1 ended the connection before it answered; look at its log, or try again</source>
        <translation>%1 hat die Verbindung beendet, bevor er geantwortet hat; sehen Sie in sein Protokoll, oder versuchen Sie es noch einmal</translation>
    </message>
    <message>
        <source>%1 ended the connection in the middle of the reply; what came is kept; ask once more for the rest</source>
        <translation>%1 hat die Verbindung mitten in der Antwort beendet; was kam, bleibt; fragen Sie noch einmal nach dem Rest</translation>
    </message>
    <message>
        <source>%1 failed while it answered: %2</source>
        <translation>%1 ist beim Antworten gescheitert: %2</translation>
    </message>
    <message>
        <source>%1 failed while it answered; look at its log</source>
        <translation>%1 ist beim Antworten gescheitert; sehen Sie in sein Protokoll</translation>
    </message>
    <message>
        <source>%1 failed with status %2: look at its log, or try again%3</source>
        <translation>%1 ist mit Status %2 gescheitert: Sehen Sie in sein Protokoll, oder versuchen Sie es noch einmal%3</translation>
    </message>
    <message>
        <source>%1 has no model &quot;%2&quot;, or its address is another one; choose one of its list%3</source>
        <translation>%1 hat kein Modell „%2“, oder die Adresse ist eine andere; wählen Sie eines aus seiner Liste%3</translation>
    </message>
    <message>
        <source>%1 has no model &quot;%2&quot;; it has: %3</source>
        <translation>%1 hat kein Modell „%2“; es gibt dort: %3</translation>
    </message>
    <message>
        <source>%1 has no time now, or is still loading its model: try again in a minute%2</source>
        <translation>%1 hat gerade keine Zeit oder lädt noch sein Modell: Versuchen Sie es in einer Minute noch einmal%2</translation>
    </message>
    <message>
        <source>%1 has no time now: try again in %2 seconds%3</source>
        <translation>%1 hat gerade keine Zeit: Versuchen Sie es in %2 Sekunden noch einmal%3</translation>
    </message>
    <message>
        <source>%1 has nothing at this address; check whether it ends in /v1%2</source>
        <translation>%1 hat nichts an dieser Adresse; prüfen Sie, ob sie auf /v1 endet%2</translation>
    </message>
    <message>
        <source>%1 holds no key: expected one word of letters, digits and signs, at most %2 of them</source>
        <translation>%1 enthält keinen Schlüssel: erwartet wird ein Wort aus Buchstaben, Ziffern und Zeichen, höchstens %2</translation>
    </message>
    <message>
        <source>%1 holds no key; write the server&apos;s key there, or connect without one</source>
        <translation>%1 enthält keinen Schlüssel; schreiben Sie den des Servers hinein, oder verbinden Sie ohne einen</translation>
    </message>
    <message>
        <source>%1 keeps the connection open and says nothing of use; look at its log, or try again</source>
        <translation>%1 hält die Verbindung offen und sagt nichts Brauchbares; sehen Sie in sein Protokoll, oder versuchen Sie es noch einmal</translation>
    </message>
    <message>
        <source>%1 refuses the request with status %2%3</source>
        <translation>%1 lehnt die Anfrage mit Status %2 ab%3</translation>
    </message>
    <message>
        <source>%1 said nothing any more for too long; it hangs or the connection is lost; try again</source>
        <translation>%1 hat zu lange nichts mehr gesagt; er hängt, oder die Verbindung ist verloren; versuchen Sie es noch einmal</translation>
    </message>
    <message>
        <source>%1 sends this request to another address (%2), which is not followed, so that no key and no word of yours goes there; connect to that address if it is the right one</source>
        <translation>%1 schickt diese Anfrage an eine andere Adresse (%2); ihr wird nicht gefolgt, damit kein Schlüssel und kein Wort von Ihnen dorthin gelangt; verbinden Sie mit jener Adresse, wenn sie die richtige ist</translation>
    </message>
    <message>
        <source>%1: its answer cannot be read: %2; is it a server with the API of OpenAI?</source>
        <translation>%1: Die Antwort ist nicht lesbar: %2; ist es ein Server mit der Schnittstelle von OpenAI?</translation>
    </message>
    <message>
        <source>%1: no safe connection: its certificate is not known or not valid, or it speaks no TLS (%2); nothing was sent</source>
        <translation>%1: keine sichere Verbindung: Das Zertifikat ist unbekannt oder ungültig, oder er spricht kein TLS (%2); nichts wurde gesendet</translation>
    </message>
    <message>
        <source>%1: other users of this computer may read this key; take that away (chmod 600) and try again</source>
        <translation>%1: Andere Benutzer dieses Computers können diesen Schlüssel lesen; nehmen Sie ihnen das (chmod 600) und versuchen Sie es noch einmal</translation>
    </message>
    <message>
        <source>%1: the key was not written; look whether the folder can be written and the disk has room</source>
        <translation>%1: Der Schlüssel wurde nicht geschrieben; sehen Sie nach, ob der Ordner beschreibbar ist und die Platte Raum hat</translation>
    </message>
    <message>
        <source>%1: the picture could not be written for sending; close other programs and try again</source>
        <translation>%1: Das Bild konnte nicht zum Senden geschrieben werden; schließen Sie andere Programme und versuchen Sie es noch einmal</translation>
    </message>
    <message>
        <source>%1: the proxy in between refuses (%2); check the system&apos;s proxy settings</source>
        <translation>%1: Der Proxy dazwischen verweigert sich (%2); prüfen Sie die Proxy-Einstellungen des Systems</translation>
    </message>
    <message>
        <source>%1: there is no such computer, or no network; check the address and the connection</source>
        <translation>%1: Diesen Computer gibt es nicht, oder kein Netz; prüfen Sie die Adresse und die Verbindung</translation>
    </message>
    <message>
        <source>%1: what goes there by http can be read by everybody on the way, also the key; write https://, or allow it for this server</source>
        <translation>%1: Was per http dorthin geht, können alle unterwegs lesen, auch den Schlüssel; schreiben Sie https://, oder erlauben Sie es für diesen Server</translation>
    </message>
    <message>
        <source>4-bit weights of bitsandbytes are not read there: the commands take the model in 16 bit; answers differ a little. For less memory look for an AWQ, GPTQ or FP8 version of the model</source>
        <translation>4-Bit-Gewichte von bitsandbytes werden dort nicht gelesen: Die Befehle nehmen das Modell in 16 Bit; die Antworten weichen ein wenig ab. Für weniger Speicher suchen Sie eine AWQ-, GPTQ- oder FP8-Fassung des Modells</translation>
    </message>
    <message>
        <source>SGLang takes its key as an argument, which other users of the server can see in the list of processes</source>
        <translation>SGLang nimmt seinen Schlüssel als Argument, das andere Benutzer des Servers in der Prozessliste sehen können</translation>
    </message>
    <message>
        <source>a call of a tool cannot be read</source>
        <translation>ein Werkzeugaufruf ist nicht lesbar</translation>
    </message>
    <message>
        <source>a choice is no object</source>
        <translation>eine Auswahl ist kein Objekt</translation>
    </message>
    <message>
        <source>a message is no object</source>
        <translation>eine Nachricht ist kein Objekt</translation>
    </message>
    <message>
        <source>a piece of the reply is longer than any reply</source>
        <translation>ein Stück der Antwort ist länger als jede Antwort</translation>
    </message>
    <message>
        <source>a piece of the reply is no JSON</source>
        <translation>ein Stück der Antwort ist kein JSON</translation>
    </message>
    <message>
        <source>a piece of the reply is no object</source>
        <translation>ein Stück der Antwort ist kein Objekt</translation>
    </message>
    <message>
        <source>a server begins every reply anew; ask for the rest in words of your own, or let it reply once more</source>
        <translation>ein Server beginnt jede Antwort neu; fragen Sie mit eigenen Worten nach dem Rest, oder lassen Sie ihn noch einmal antworten</translation>
    </message>
    <message>
        <source>a server takes messages, not a prompt with the model&apos;s own markers; ask with --prompt, or load the model on this computer</source>
        <translation>ein Server nimmt Nachrichten, keinen Prompt mit den Marken des Modells; fragen Sie mit --prompt, oder laden Sie das Modell auf diesem Computer</translation>
    </message>
    <message>
        <source>a server&apos;s adapters are models of its list; an adapter of this computer cannot be used there</source>
        <translation>die Adapter eines Servers sind Modelle seiner Liste; ein Adapter dieses Computers ist dort nicht verwendbar</translation>
    </message>
    <message>
        <source>an adapter&apos;s parts in the towers are not applied on several cards: merge the adapter, or take one card</source>
        <translation>die Teile eines Adapters in den Türmen werden auf mehreren Karten nicht angewendet: verschmelzen Sie den Adapter, oder nehmen Sie eine Karte</translation>
    </message>
    <message>
        <source>an adapter&apos;s parts in the towers are not applied: merge the adapter</source>
        <translation>die Teile eines Adapters in den Türmen werden nicht angewendet: verschmelzen Sie den Adapter</translation>
    </message>
    <message>
        <source>an adapter&apos;s parts in the towers need an option that vLLM calls experimental (--enable-tower-connector-lora)</source>
        <translation>die Teile eines Adapters in den Türmen brauchen eine Option, die vLLM als Versuch bezeichnet (--enable-tower-connector-lora)</translation>
    </message>
    <message>
        <source>it begins with &quot;%1&quot;</source>
        <translation>sie beginnt mit „%1“</translation>
    </message>
    <message>
        <source>its content is no text</source>
        <translation>der Inhalt ist kein Text</translation>
    </message>
    <message>
        <source>its list of models has no end</source>
        <translation>die Liste der Modelle hat kein Ende</translation>
    </message>
    <message>
        <source>its list of models has no list &quot;data&quot;</source>
        <translation>die Liste der Modelle hat keine Liste „data“</translation>
    </message>
    <message>
        <source>its list of models is no JSON</source>
        <translation>die Liste der Modelle ist kein JSON</translation>
    </message>
    <message>
        <source>its thoughts are no text</source>
        <translation>die Gedanken sind kein Text</translation>
    </message>
    <message>
        <source>limits for single devices: a server takes one share of each card&apos;s memory (%1)</source>
        <translation>Grenzen für einzelne Geräte: Ein Server nimmt von jeder Karte denselben Anteil des Speichers (%1)</translation>
    </message>
    <message>
        <source>no server is connected; choose one of its models first</source>
        <translation>kein Server ist verbunden; wählen Sie zuerst eines seiner Modelle</translation>
    </message>
    <message>
        <source>parts on the processor or on disk: there all of the model is on the cards, divided evenly</source>
        <translation>Teile auf dem Prozessor oder der Platte: Dort liegt das ganze Modell gleichmäßig verteilt auf den Karten</translation>
    </message>
    <message>
        <source>stopped before the server had answered</source>
        <translation>angehalten, bevor der Server geantwortet hatte</translation>
    </message>
    <message>
        <source>text only: both towers are loaded there</source>
        <translation>nur Text: Dort werden beide Türme geladen</translation>
    </message>
    <message>
        <source>the drafting assistant is left out of the commands</source>
        <translation>der Assistent für Entwürfe fehlt in den Befehlen</translation>
    </message>
    <message>
        <source>the folder %1 is this computer&apos;s: copy it to the server and write its path there</source>
        <translation>der Ordner %1 ist auf diesem Computer: kopieren Sie ihn auf den Server und schreiben Sie seinen dortigen Pfad</translation>
    </message>
    <message>
        <source>the reply has no &quot;choices&quot;</source>
        <translation>die Antwort hat keine „choices“</translation>
    </message>
    <message>
        <source>the reply has no end</source>
        <translation>die Antwort hat kein Ende</translation>
    </message>
    <message>
        <source>the reply is empty</source>
        <translation>die Antwort ist leer</translation>
    </message>
    <message>
        <source>the reply is neither a stream nor JSON</source>
        <translation>die Antwort ist weder ein Strom noch JSON</translation>
    </message>
    <message>
        <source>the table of per-layer embeddings is on the cards as well</source>
        <translation>die Tabelle der Einbettungen je Schicht liegt ebenfalls auf den Karten</translation>
    </message>
    <message>
        <source>which part is on which card: there every layer is divided over all cards</source>
        <translation>welcher Teil auf welcher Karte liegt: Dort wird jede Schicht über alle Karten verteilt</translation>
    </message>
    <message>
        <source>%1: the file for tokens cannot be made; name one in a folder that is there and can be written</source>
        <translation>%1: Die Datei für Token kann nicht angelegt werden; nennen Sie eine in einem Ordner, den es gibt und in den geschrieben werden kann</translation>
    </message>
    <message>
        <source>%1: the file for tokens cannot be written; make room on the disk, or name one elsewhere</source>
        <translation>%1: Die Datei für Token kann nicht geschrieben werden; schaffen Sie Platz auf dem Datenträger, oder nennen Sie eine anderswo</translation>
    </message>
    <message>
        <source>%1: other users may read or write this file with tokens; chmod 600 keeps it to you</source>
        <translation>%1: Andere Benutzer dürfen diese Datei mit Token lesen oder schreiben; chmod 600 behält sie Ihnen vor</translation>
    </message>
    <message>
        <source>%1: line %2 is no token, expected at least 16 letters, digits or signs without spaces; delete the file to get a fresh one</source>
        <translation>%1: Zeile %2 ist kein Token, erwartet werden mindestens 16 Buchstaben, Ziffern oder Zeichen ohne Leerzeichen; löschen Sie die Datei, um ein neues zu bekommen</translation>
    </message>
    <message>
        <source>%1: the file for tokens is empty, expected one a line; delete it to get a fresh one</source>
        <translation>%1: Die Datei für Token ist leer, erwartet wird eines je Zeile; löschen Sie sie, um ein neues zu bekommen</translation>
    </message>
    <message>
        <source>no folder for the pictures and recordings of requests can be made where the system keeps temporary files (%1); set TMPDIR to one that can be written</source>
        <translation>Wo das System temporäre Dateien hält, kann kein Ordner für die Bilder und Aufnahmen von Anfragen angelegt werden (%1); setzen Sie TMPDIR auf einen, in den geschrieben werden kann</translation>
    </message>
    <message>
        <source>a picture or a recording of the request cannot be written to the system&apos;s folder for temporary files; its disk may be full</source>
        <translation>ein Bild oder eine Aufnahme der Anfrage lässt sich nicht in den Ordner des Systems für temporäre Dateien schreiben; vielleicht ist der Datenträger voll</translation>
    </message>
    <message>
        <source>%1: expected an address in numbers to listen at, such as 127.0.0.1, ::1 or 0.0.0.0 (everywhere)</source>
        <translation>%1: erwartet wird eine Adresse in Zahlen, an der gelauscht wird, etwa 127.0.0.1, ::1 oder 0.0.0.0 (überall)</translation>
    </message>
    <message>
        <source>port %1 of %2 cannot be listened at (%3); another program may have it: choose another port, or 0 for one that is free</source>
        <translation>an Port %1 von %2 kann nicht gelauscht werden (%3); vielleicht hat ihn ein anderes Programm: Wählen Sie einen anderen Port, oder 0 für einen freien</translation>
    </message>
    <message>
        <source>the system has no sockets for a server (%1); close other programs</source>
        <translation>das System hat keine Sockets für einen Server (%1); schließen Sie andere Programme</translation>
    </message>
    <message>
        <source>%1 %2 (--all fetches what is there)</source>
        <translation>%1 %2 (--all holt, was da ist)</translation>
    </message>
    <message>
        <source>%1 %2; expected OWNER/NAME, OWNER/NAME@REVISION or the address of a model&apos;s page</source>
        <translation>%1 %2; erwartet wird OWNER/NAME, OWNER/NAME@REVISION oder die Adresse der Seite eines Modells</translation>
    </message>
    <message>
        <source>%1 (it says %2)</source>
        <translation>%1 (er sagt %2)</translation>
    </message>
    <message>
        <source>%1 at the hub begins with no header of a .safetensors file, so it is none; choose another model</source>
        <translation>%1 beginnt dort nicht mit dem Kopf einer .safetensors-Datei, ist also keine; wählen Sie ein anderes Modell</translation>
    </message>
    <message>
        <source>%1 comes compressed (%2) though the plain bytes were asked for; check the network&apos;s proxy</source>
        <translation>%1 kommt komprimiert (%2), obwohl die Bytes selbst verlangt waren; prüfen Sie den Proxy des Netzes</translation>
    </message>
    <message>
        <source>%1: holds %2 GGUF models: %3; give one of these files</source>
        <translation>%1: enthält %2 GGUF-Modelle: %3; geben Sie eine dieser Dateien an</translation>
    </message>
    <message>
        <source>has projectors, assistants or parts of GGUF models and no whole model: look for the repository that they belong to</source>
        <translation>hat Projektoren, Assistenten oder Teile von GGUF-Modellen und kein ganzes Modell: Suchen Sie das Repositorium, zu dem sie gehören</translation>
    </message>
    <message>
        <source>has neither a .safetensors file in its own folder nor a GGUF model, so there is nothing to load</source>
        <translation>hat weder in seinem eigenen Ordner eine .safetensors-Datei noch ein GGUF-Modell, also ist nichts zu laden</translation>
    </message>
    <message>
        <source>%1 has no GGUF model; leave &quot;:%2&quot; out</source>
        <translation>%1 hat kein GGUF-Modell; lassen Sie „:%2“ weg</translation>
    </message>
    <message>
        <source>%1 has no GGUF model of the quantization %2; it has: %3</source>
        <translation>%1 hat kein GGUF-Modell in der Quantisierung %2; es hat: %3</translation>
    </message>
    <message>
        <source>names no quantization behind &apos;:&apos;</source>
        <translation>nennt hinter „:“ keine Quantisierung</translation>
    </message>
    <message>
        <source>%1 does not begin as a GGUF file does</source>
        <translation>%1 beginnt nicht wie eine GGUF-Datei</translation>
    </message>
    <message>
        <source>%1 has %2 bytes at %3, its list of files says %4: it was changed meanwhile, or the list is wrong; begin again</source>
        <translation>%1 hat bei %3 %2 Bytes, die Dateiliste dort sagt %4: Es wurde inzwischen geändert, oder die Liste ist falsch; beginnen Sie neu</translation>
    </message>
    <message>
        <source>%1 has %2 bytes, expected %3</source>
        <translation>%1 hat %2 Bytes, erwartet werden %3</translation>
    </message>
    <message>
        <source>%1 has had too many requests from this address; try again in five minutes, or set HF_TOKEN</source>
        <translation>%1 hat von dieser Adresse zu viele Anfragen bekommen; versuchen Sie es in fünf Minuten wieder, oder setzen Sie HF_TOKEN</translation>
    </message>
    <message>
        <source>%1 has no revision %2; leave out what stands behind &apos;@&apos;, or name a branch, a tag or a commit that its page lists</source>
        <translation>%1 hat keinen Stand %2; lassen Sie weg, was hinter „@“ steht, oder nennen Sie einen Zweig, eine Marke oder einen Commit, den die Seite nennt</translation>
    </message>
    <message>
        <source>%1 has sent nothing for too long</source>
        <translation>%1 hat zu lange nichts geschickt</translation>
    </message>
    <message>
        <source>%1 has the checksum %2 at %3, its list of files says %4: it was changed meanwhile; begin again</source>
        <translation>%1 hat bei %3 die Prüfsumme %2, die Dateiliste dort sagt %4: Es wurde inzwischen geändert; beginnen Sie neu</translation>
    </message>
    <message>
        <source>%1 has trouble of its own (status %2); try again later, what has arrived is kept</source>
        <translation>%1 hat selbst Schwierigkeiten (Status %2); versuchen Sie es später wieder, was angekommen ist, bleibt</translation>
    </message>
    <message>
        <source>%1 holds no token: expected one word such as hf_... ; copy it again from your settings page at the hub</source>
        <translation>%1 enthält kein Token: Erwartet wird ein Wort wie hf_... ; kopieren Sie es noch einmal von Ihrer Einstellungsseite beim Hub</translation>
    </message>
    <message>
        <source>%1 is a link that leads nowhere or out of the folder</source>
        <translation>%1 ist ein Link, der nirgendwohin oder aus dem Ordner hinaus führt</translation>
    </message>
    <message>
        <source>%1 is no address; check HF_ENDPOINT</source>
        <translation>%1 ist keine Adresse; prüfen Sie HF_ENDPOINT</translation>
    </message>
    <message>
        <source>%1 is no list of downloads that this Belfry can read; move it away, and the list begins anew</source>
        <translation>%1 ist keine Liste von Downloads, die dieses Belfry lesen kann; verschieben Sie die Datei, dann beginnt die Liste neu</translation>
    </message>
    <message>
        <source>%1 is no plain file; remove it and try again</source>
        <translation>%1 ist keine einfache Datei; entfernen Sie das und versuchen Sie es wieder</translation>
    </message>
    <message>
        <source>%1 is not found: check the network connection</source>
        <translation>%1 wird nicht gefunden: Prüfen Sie die Netzverbindung</translation>
    </message>
    <message>
        <source>%1 is one of Ollama&apos;s: delete it with &quot;ollama rm %1&quot;</source>
        <translation>%1 gehört Ollama: Löschen Sie es mit „ollama rm %1“</translation>
    </message>
    <message>
        <source>%1 is one of the folders of a download: others would go with it. Delete the download (%2) with a file manager</source>
        <translation>%1 ist einer der Ordner eines Downloads: Andere gingen mit. Löschen Sie den Download (%2) mit einem Dateimanager</translation>
    </message>
    <message>
        <source>%1 is shorter at %2 than its list of files says: it was changed meanwhile; begin again</source>
        <translation>%1 ist bei %2 kürzer, als die Dateiliste dort sagt: Es wurde inzwischen geändert; beginnen Sie neu</translation>
    </message>
    <message>
        <source>%1 is there and is another file (%2); nothing is overwritten: choose an empty folder, or move it away</source>
        <translation>%1 ist da und eine andere Datei (%2); nichts wird überschrieben: Wählen Sie einen leeren Ordner, oder verschieben Sie sie</translation>
    </message>
    <message>
        <source>%1 leads to %2, %3; check HF_ENDPOINT and the network&apos;s proxy</source>
        <translation>%1 führt zu %2, %3; prüfen Sie HF_ENDPOINT und den Proxy des Netzes</translation>
    </message>
    <message>
        <source>%1 offers no search: name the model by OWNER/NAME</source>
        <translation>%1 bietet keine Suche: Nennen Sie das Modell mit OWNER/NAME</translation>
    </message>
    <message>
        <source>%1 sends a web page, expected JSON: is this network waiting for a sign-in? Open it in a browser, or check HF_ENDPOINT</source>
        <translation>%1 schickt eine Webseite, erwartet wird JSON: Wartet dieses Netz auf eine Anmeldung? Öffnen Sie die Adresse in einem Browser, oder prüfen Sie HF_ENDPOINT</translation>
    </message>
    <message>
        <source>%1 sends more bytes of %2 than the %3 that it has; fetch it again later</source>
        <translation>%1 schickt mehr Bytes von %2 als die %3, die es hat; holen Sie es später noch einmal</translation>
    </message>
    <message>
        <source>%1 sends more than %2 bytes about %3, which no list has; check HF_ENDPOINT</source>
        <translation>%1 schickt über %3 mehr als %2 Bytes, was keine Liste hat; prüfen Sie HF_ENDPOINT</translation>
    </message>
    <message>
        <source>%1 takes too long to answer</source>
        <translation>%1 braucht zu lange für eine Antwort</translation>
    </message>
    <message>
        <source>%1: %2 answered with status %3, expected 200; if HF_ENDPOINT is set, check that it is a hub</source>
        <translation>%1: %2 antwortete mit dem Status %3, erwartet wird 200; wenn HF_ENDPOINT gesetzt ist, prüfen Sie, ob dort ein Hub ist</translation>
    </message>
    <message>
        <source>%1: %2 bytes are on the disk, expected %3: does another program write there? Try again</source>
        <translation>%1: %2 Bytes sind auf der Platte, erwartet werden %3: Schreibt dort noch ein Programm? Versuchen Sie es wieder</translation>
    </message>
    <message>
        <source>%1: %2 bytes came, %3 were asked for; check the network&apos;s proxy</source>
        <translation>%1: %2 Bytes kamen, %3 waren verlangt; prüfen Sie den Proxy des Netzes</translation>
    </message>
    <message>
        <source>%1: %2 does not lie in %3, where it was found (a link leads there): delete it with a file manager</source>
        <translation>%1: %2 liegt nicht in %3, wo es gefunden wurde (ein Link führt dorthin): Löschen Sie es mit einem Dateimanager</translation>
    </message>
    <message>
        <source>%1: %2 does not take the token: it is wrong or has expired; make a new one on your settings page there, or unset HF_TOKEN</source>
        <translation>%1: %2 nimmt das Token nicht: Es ist falsch oder abgelaufen; machen Sie auf Ihrer Einstellungsseite dort ein neues, oder nehmen Sie HF_TOKEN weg</translation>
    </message>
    <message>
        <source>%1: %2 refuses access to this token: it lacks the permission (a fine-grained token names what it may read): set HF_TOKEN to one that has it</source>
        <translation>%1: %2 verweigert diesem Token den Zugang: Ihm fehlt die Erlaubnis (ein feingliedriges Token nennt, was es lesen darf): Setzen Sie HF_TOKEN auf eines, das sie hat</translation>
    </message>
    <message>
        <source>%1: %2 refuses access; set HF_TOKEN if the model is yours</source>
        <translation>%1: %2 verweigert den Zugang; setzen Sie HF_TOKEN, wenn das Modell Ihres ist</translation>
    </message>
    <message>
        <source>%1: %2, expected %3 bytes</source>
        <translation>%1: %2, erwartet werden %3 Bytes</translation>
    </message>
    <message>
        <source>%1: %2: %3; check the disk and try again</source>
        <translation>%1: %2: %3; prüfen Sie die Platte und versuchen Sie es wieder</translation>
    </message>
    <message>
        <source>%1: %2: %3; choose a folder that you may write to with --to or HF_HUB_CACHE</source>
        <translation>%1: %2: %3; wählen Sie mit --to oder HF_HUB_CACHE einen Ordner, in den Sie schreiben dürfen</translation>
    </message>
    <message>
        <source>%1: bytes from %2 on were asked for, what comes says %3; check the network&apos;s proxy</source>
        <translation>%1: Bytes ab %2 waren verlangt, was kommt, sagt %3; prüfen Sie den Proxy des Netzes</translation>
    </message>
    <message>
        <source>%1: bytes from %2 on were asked for, what comes says nothing of its range; check the network&apos;s proxy</source>
        <translation>%1: Bytes ab %2 waren verlangt, was kommt, sagt nichts von seinem Bereich; prüfen Sie den Proxy des Netzes</translation>
    </message>
    <message>
        <source>%1: cannot be read; look whether it is a folder and whether you may open it</source>
        <translation>%1: kann nicht gelesen werden; sehen Sie nach, ob das ein Ordner ist und ob Sie ihn öffnen dürfen</translation>
    </message>
    <message>
        <source>%1: cannot be removed: %2</source>
        <translation>%1: kann nicht entfernt werden: %2</translation>
    </message>
    <message>
        <source>%1: did not answer within %2 s and was skipped; if it is a network drive, look whether it is connected</source>
        <translation>%1: hat innerhalb von %2 s nicht geantwortet und wurde übersprungen; wenn es ein Netzlaufwerk ist, sehen Sie nach, ob es verbunden ist</translation>
    </message>
    <message>
        <source>%1: expected an absolute path without line breaks</source>
        <translation>%1: erwartet wird ein absoluter Pfad ohne Zeilenumbrüche</translation>
    </message>
    <message>
        <source>%1: holds more than %2 entries, or folders with more than %3; the rest was not looked at. Name a folder further down</source>
        <translation>%1: enthält mehr als %2 Einträge, oder Ordner mit mehr als %3; der Rest wurde nicht angesehen. Nennen Sie einen Ordner weiter unten</translation>
    </message>
    <message>
        <source>%1: it is no longer there; begin again</source>
        <translation>%1: das ist nicht mehr da; beginnen Sie neu</translation>
    </message>
    <message>
        <source>%1: its answer about %2 %3; nothing was fetched. Is HF_ENDPOINT a hub?</source>
        <translation>%1: die Antwort zu %2 %3; nichts wurde geholt. Ist HF_ENDPOINT ein Hub?</translation>
    </message>
    <message>
        <source>%1: its licence has to be accepted before it can be fetched: open %2 in a browser, sign in, accept, then set HF_TOKEN and try again</source>
        <translation>%1: Die Lizenz muss angenommen sein, bevor es geholt werden kann: Öffnen Sie %2 in einem Browser, melden Sie sich an, nehmen Sie an, setzen Sie dann HF_TOKEN und versuchen Sie es wieder</translation>
    </message>
    <message>
        <source>%1: its licence has to be accepted before it can be fetched: open %2 in a browser, sign in, accept, then try again</source>
        <translation>%1: Die Lizenz muss angenommen sein, bevor es geholt werden kann: Öffnen Sie %2 in einem Browser, melden Sie sich an, nehmen Sie an, versuchen Sie es dann wieder</translation>
    </message>
    <message>
        <source>%1: not found at %2; check the name: OWNER/NAME as on the model&apos;s page</source>
        <translation>%1: bei %2 nicht gefunden; prüfen Sie den Namen: OWNER/NAME wie auf der Seite des Modells</translation>
    </message>
    <message>
        <source>%1: not offered where you are (status 451); choose another model</source>
        <translation>%1: wird dort, wo Sie sind, nicht angeboten (Status 451); wählen Sie ein anderes Modell</translation>
    </message>
    <message>
        <source>%1: several in the library have this name; give the folder of one:%2</source>
        <translation>%1: mehrere in der Bibliothek heißen so; nennen Sie den Ordner von einem:%2</translation>
    </message>
    <message>
        <source>%1: the checksum of what came is %2, expected %3; check the network&apos;s proxy</source>
        <translation>%1: Die Prüfsumme dessen, was kam, ist %2, erwartet wird %3; prüfen Sie den Proxy des Netzes</translation>
    </message>
    <message>
        <source>%1: the checksum of what came is %2, expected %3; it was thrown away. Try again; if it stays so, the network or a proxy changes files</source>
        <translation>%1: Die Prüfsumme dessen, was kam, ist %2, erwartet wird %3; es wurde weggeworfen. Versuchen Sie es wieder; bleibt es so, verändert das Netz oder ein Proxy Dateien</translation>
    </message>
    <message>
        <source>%1: the disk is full; what has arrived is kept: make room and give the same command again</source>
        <translation>%1: Die Platte ist voll; was angekommen ist, bleibt: Schaffen Sie Platz und geben Sie denselben Befehl noch einmal</translation>
    </message>
    <message>
        <source>%1: the disk takes no file of this size (FAT: 4 GiB); choose a folder on another disk with --to or HF_HUB_CACHE</source>
        <translation>%1: Die Platte nimmt keine Datei dieser Größe (FAT: 4 GiB); wählen Sie mit --to oder HF_HUB_CACHE einen Ordner auf einer anderen</translation>
    </message>
    <message>
        <source>%1: the library has no adapter of this name</source>
        <translation>%1: Die Bibliothek hat keinen Adapter dieses Namens</translation>
    </message>
    <message>
        <source>%1: the library has no model of this name</source>
        <translation>%1: Die Bibliothek hat kein Modell dieses Namens</translation>
    </message>
    <message>
        <source>%1: the list of the files of %2 goes on and on; check HF_ENDPOINT</source>
        <translation>%1: Die Liste der Dateien von %2 nimmt kein Ende; prüfen Sie HF_ENDPOINT</translation>
    </message>
    <message>
        <source>%1: the list of the files of %2 goes on at %3, which is another host: refused; check HF_ENDPOINT</source>
        <translation>%1: Die Liste der Dateien von %2 geht bei %3 weiter, das ist ein anderer Rechner: verweigert; prüfen Sie HF_ENDPOINT</translation>
    </message>
    <message>
        <source>%1: the search was ended</source>
        <translation>%1: Die Suche wurde beendet</translation>
    </message>
    <message>
        <source>%1: there is no such model at %2, or it is private: check the name and whose token HF_TOKEN is</source>
        <translation>%1: Es gibt bei %2 kein solches Modell, oder es ist privat: Prüfen Sie den Namen und wessen Token HF_TOKEN ist</translation>
    </message>
    <message>
        <source>%1: there is no such model at %2, or it is private: check the name, or set HF_TOKEN to a token that may read it</source>
        <translation>%1: Es gibt bei %2 kein solches Modell, oder es ist privat: Prüfen Sie den Namen, oder setzen Sie HF_TOKEN auf ein Token, das es lesen darf</translation>
    </message>
    <message>
        <source>%1: was not looked at to its end: %2</source>
        <translation>%1: wurde nicht bis zu Ende angesehen: %2</translation>
    </message>
    <message>
        <source>%1: what it found goes on at %2, which is another host: refused; check HF_ENDPOINT</source>
        <translation>%1: Was es gefunden hat, geht bei %2 weiter, das ist ein anderer Rechner: verweigert; prüfen Sie HF_ENDPOINT</translation>
    </message>
    <message>
        <source>%1: what it found is %2, expected a list of models; is HF_ENDPOINT a hub?</source>
        <translation>%1: Was es gefunden hat, ist %2, erwartet wird eine Liste von Modellen; ist HF_ENDPOINT ein Hub?</translation>
    </message>
    <message>
        <source>%1; move it away, and the list of downloads begins anew</source>
        <translation>%1; verschieben Sie die Datei, dann beginnt die Liste der Downloads neu</translation>
    </message>
    <message>
        <source>%1; what has arrived is kept: give the same command again</source>
        <translation>%1; was angekommen ist, bleibt: Geben Sie denselben Befehl noch einmal</translation>
    </message>
    <message>
        <source>HF_ENDPOINT %1 is not encrypted, and a token would be read on the way: use https, or unset HF_TOKEN</source>
        <translation>HF_ENDPOINT %1 ist nicht verschlüsselt, ein Token würde unterwegs gelesen: Nehmen Sie https, oder nehmen Sie HF_TOKEN weg</translation>
    </message>
    <message>
        <source>HF_ENDPOINT is %1, expected an address such as %2</source>
        <translation>HF_ENDPOINT ist %1, erwartet wird eine Adresse wie %2</translation>
    </message>
    <message>
        <source>a redirect without an address</source>
        <translation>eine Weiterleitung ohne Adresse</translation>
    </message>
    <message>
        <source>a search</source>
        <translation>eine Suche</translation>
    </message>
    <message>
        <source>a web page comes instead of %1: is this network waiting for a sign-in? Open it in a browser, then try again</source>
        <translation>Statt %1 kommt eine Webseite: Wartet dieses Netz auf eine Anmeldung? Öffnen Sie sie in einem Browser und versuchen Sie es dann wieder</translation>
    </message>
    <message>
        <source>and from there on and on (more than %1 times)</source>
        <translation>und von dort weiter und weiter (mehr als %1-mal)</translation>
    </message>
    <message>
        <source>another host, where only the bytes of files may come from</source>
        <translation>ein anderer Rechner, von dem nur die Bytes von Dateien kommen dürfen</translation>
    </message>
    <message>
        <source>another program fetches the same file and has not been done in %1 s (%2 is locked): let it end, then try again</source>
        <translation>Ein anderes Programm holt dieselbe Datei und ist in %1 s nicht fertig geworden (%2 ist gesperrt): Lassen Sie es zu Ende kommen, versuchen Sie es dann wieder</translation>
    </message>
    <message>
        <source>at most %1 folders are kept; name one above several of them</source>
        <translation>höchstens %1 Ordner werden behalten; nennen Sie einen über mehreren davon</translation>
    </message>
    <message>
        <source>belfry-cli get %1 completes it</source>
        <translation>belfry-cli get %1 macht es vollständig</translation>
    </message>
    <message>
        <source>belfry-cli get %1 goes on with it</source>
        <translation>belfry-cli get %1 macht damit weiter</translation>
    </message>
    <message>
        <source>belfry-cli&apos;s network part (%1) cannot be used (%2); install Belfry whole and Qt 6 Network, or fetch the model with Python&apos;s &quot;hf download&quot;</source>
        <translation>der Netzteil von belfry-cli (%1) ist nicht zu gebrauchen (%2); installieren Sie Belfry ganz und Qt 6 Network, oder holen Sie das Modell mit Pythons „hf download“</translation>
    </message>
    <message>
        <source>calls it %1, which is no name</source>
        <translation>nennt es %1, das ist kein Name</translation>
    </message>
    <message>
        <source>cannot be copied</source>
        <translation>kann nicht kopiert werden</translation>
    </message>
    <message>
        <source>cannot be deleted (%1); what came before it is gone. Close what uses it, or delete it with a file manager</source>
        <translation>kann nicht gelöscht werden (%1); was davor kam, ist weg. Schließen Sie, was es benutzt, oder löschen Sie es mit einem Dateimanager</translation>
    </message>
    <message>
        <source>cannot be emptied</source>
        <translation>kann nicht geleert werden</translation>
    </message>
    <message>
        <source>cannot be flushed</source>
        <translation>kann nicht auf die Platte gebracht werden</translation>
    </message>
    <message>
        <source>cannot be named</source>
        <translation>kann nicht benannt werden</translation>
    </message>
    <message>
        <source>cannot be read (%1); nothing was deleted</source>
        <translation>kann nicht gelesen werden (%1); nichts wurde gelöscht</translation>
    </message>
    <message>
        <source>cannot be removed</source>
        <translation>kann nicht entfernt werden</translation>
    </message>
    <message>
        <source>cannot be written</source>
        <translation>kann nicht geschrieben werden</translation>
    </message>
    <message>
        <source>ends with a dot or a blank, which Windows leaves out</source>
        <translation>endet mit einem Punkt oder Leerzeichen, die Windows weglässt</translation>
    </message>
    <message>
        <source>enough</source>
        <translation>genug</translation>
    </message>
    <message>
        <source>get a Gemma 4 model: belfry-cli get google/gemma-4-E2B-it</source>
        <translation>holen Sie ein Gemma-4-Modell: belfry-cli get google/gemma-4-E2B-it</translation>
    </message>
    <message>
        <source>get the adapter again</source>
        <translation>holen Sie den Adapter noch einmal</translation>
    </message>
    <message>
        <source>get the file again</source>
        <translation>holen Sie die Datei noch einmal</translation>
    </message>
    <message>
        <source>get the model again</source>
        <translation>holen Sie das Modell noch einmal</translation>
    </message>
    <message>
        <source>get the model&apos;s own safetensors version; Belfry quantizes it while it loads</source>
        <translation>holen Sie die safetensors-Fassung des Modells selbst; Belfry quantisiert sie beim Laden</translation>
    </message>
    <message>
        <source>has a part of more than 255 bytes</source>
        <translation>hat einen Teil von mehr als 255 Bytes</translation>
    </message>
    <message>
        <source>has an empty part between two &apos;/&apos;, or begins or ends with one</source>
        <translation>hat zwischen zwei „/“ nichts stehen, oder beginnt oder endet damit</translation>
    </message>
    <message>
        <source>has its weights as .bin or .pt only, which can hold programs: Belfry reads .safetensors (the hub&apos;s page &quot;safetensors/convert&quot; makes them)</source>
        <translation>hat seine Gewichte nur als .bin oder .pt, worin Programme stecken können: Belfry liest .safetensors (die Seite „safetensors/convert“ des Hubs macht sie)</translation>
    </message>
    <message>
        <source>has no files</source>
        <translation>hat keine Dateien</translation>
    </message>
    <message>
        <source>has the file name %1, which %2</source>
        <translation>hat den Dateinamen %1, der %2</translation>
    </message>
    <message>
        <source>holds a character that Windows does not allow in a file name (a drive letter, another separator)</source>
        <translation>enthält ein Zeichen, das Windows in Dateinamen nicht zulässt (ein Laufwerksbuchstabe, ein anderes Trennzeichen)</translation>
    </message>
    <message>
        <source>holds a control character</source>
        <translation>enthält ein Steuerzeichen</translation>
    </message>
    <message>
        <source>holds more than a model does; nothing was deleted. Delete it with a file manager</source>
        <translation>enthält mehr als ein Modell; nichts wurde gelöscht. Löschen Sie es mit einem Dateimanager</translation>
    </message>
    <message>
        <source>is %1, expected a list of files</source>
        <translation>ist %1, erwartet wird eine Liste von Dateien</translation>
    </message>
    <message>
        <source>is empty or longer than 1024 bytes</source>
        <translation>ist leer oder länger als 1024 Bytes</translation>
    </message>
    <message>
        <source>&quot;ollama pull %1&quot; completes it</source>
        <translation>„ollama pull %1“ vervollständigt es</translation>
    </message>
    <message>
        <source>is no JSON (%1)</source>
        <translation>ist kein JSON (%1)</translation>
    </message>
    <message>
        <source>is no address at %1</source>
        <translation>ist keine Adresse bei %1</translation>
    </message>
    <message>
        <source>is no model&apos;s name: &quot;--&quot;, &quot;..&quot; and &quot;.git&quot; at the end are not allowed</source>
        <translation>ist kein Modellname: „--“, „..“ und „.git“ am Ende sind nicht erlaubt</translation>
    </message>
    <message>
        <source>is no model&apos;s name: it begins or ends with &apos;-&apos; or &apos;.&apos;</source>
        <translation>ist kein Modellname: Er beginnt oder endet mit „-“ oder „.“</translation>
    </message>
    <message>
        <source>is no model&apos;s name: it has more than one &apos;/&apos;</source>
        <translation>ist kein Modellname: Er hat mehr als ein „/“</translation>
    </message>
    <message>
        <source>is no model&apos;s name: it has no characters or more than 96</source>
        <translation>ist kein Modellname: Er hat keine Zeichen oder mehr als 96</translation>
    </message>
    <message>
        <source>is no model&apos;s name: letters, digits, &apos;-&apos;, &apos;_&apos; and &apos;.&apos; are allowed</source>
        <translation>ist kein Modellname: Buchstaben, Ziffern, „-“, „_“ und „.“ sind erlaubt</translation>
    </message>
    <message>
        <source>is no valid address</source>
        <translation>ist keine gültige Adresse</translation>
    </message>
    <message>
        <source>is not UTF-8</source>
        <translation>ist kein UTF-8</translation>
    </message>
    <message>
        <source>is not there any more</source>
        <translation>ist nicht mehr da</translation>
    </message>
    <message>
        <source>is not whole</source>
        <translation>ist nicht vollständig</translation>
    </message>
    <message>
        <source>is not whole: %1</source>
        <translation>ist nicht vollständig: %1</translation>
    </message>
    <message>
        <source>is not whole: %1 are missing</source>
        <translation>ist nicht vollständig: %1 fehlen</translation>
    </message>
    <message>
        <source>is not whole: %1 is missing</source>
        <translation>ist nicht vollständig: %1 fehlt</translation>
    </message>
    <message>
        <source>is quantized for MLX, which runs on Apple&apos;s processors alone</source>
        <translation>ist für MLX quantisiert, das nur auf Apples Prozessoren läuft</translation>
    </message>
    <message>
        <source>is the beginning of a download: no file of the model is whole</source>
        <translation>ist der Anfang eines Downloads: Keine Datei des Modells ist vollständig</translation>
    </message>
    <message>
        <source>is the name of a device on Windows</source>
        <translation>ist der Name eines Geräts unter Windows</translation>
    </message>
    <message>
        <source>it has another size</source>
        <translation>sie hat eine andere Größe</translation>
    </message>
    <message>
        <source>its folder has changed; it was not deleted, nor what comes behind it. Search again</source>
        <translation>der Ordner hat sich geändert; es wurde nicht gelöscht, auch nicht, was danach kommt. Suchen Sie noch einmal</translation>
    </message>
    <message>
        <source>leads out of its folder (&quot;.&quot; or &quot;..&quot;)</source>
        <translation>führt aus seinem Ordner hinaus („.“ oder „..“)</translation>
    </message>
    <message>
        <source>%1: the file name %2 %3, so this computer cannot keep it; nothing was fetched; try another computer, or ask the owner to rename it</source>
        <translation>%1: Der Dateiname %2 %3, daher kann dieser Computer die Datei nicht ablegen; es wurde nichts geladen. Versuchen Sie es auf einem anderen Computer, oder bitten Sie um einen anderen Namen</translation>
    </message>
    <message>
        <source>%1: this computer cannot keep %2 and %3 side by side; nothing was fetched; try another computer, or ask the owner to rename one</source>
        <translation>%1: Dieser Computer kann %2 und %3 nicht nebeneinander ablegen; es wurde nichts geladen. Versuchen Sie es auf einem anderen Computer, oder bitten Sie um einen anderen Namen</translation>
    </message>
    <message>
        <source>lists more than %1 files</source>
        <translation>nennt mehr als %1 Dateien</translation>
    </message>
    <message>
        <source>lists something that is neither a file nor a folder</source>
        <translation>nennt etwas, das weder Datei noch Ordner ist</translation>
    </message>
    <message>
        <source>names no model</source>
        <translation>nennt kein Modell</translation>
    </message>
    <message>
        <source>names no revision behind &apos;@&apos;</source>
        <translation>nennt hinter „@“ keinen Stand</translation>
    </message>
    <message>
        <source>no connection to %1: check the network and its proxy</source>
        <translation>keine Verbindung zu %1: Prüfen Sie das Netz und seinen Proxy</translation>
    </message>
    <message>
        <source>no secure connection to %1: check the date of this computer and what sits between it and the network</source>
        <translation>keine sichere Verbindung zu %1: Prüfen Sie das Datum dieses Rechners und was zwischen ihm und dem Netz sitzt</translation>
    </message>
    <message>
        <source>no thread for it: %1; close other programs and search again</source>
        <translation>kein Thread dafür: %1; schließen Sie andere Programme und suchen Sie noch einmal</translation>
    </message>
    <message>
        <source>no token was typed: expected one word such as hf_... from your settings page at the hub</source>
        <translation>kein Token wurde eingegeben: Erwartet wird ein Wort wie hf_... von Ihrer Einstellungsseite beim Hub</translation>
    </message>
    <message>
        <source>not enough room: %1 bytes are missing and %2 shall stay free, the disk has %3 free; make room, or choose another disk with --to or HF_HUB_CACHE</source>
        <translation>nicht genug Platz: %1 Bytes fehlen und %2 sollen frei bleiben, die Platte hat %3 frei; schaffen Sie Platz, oder wählen Sie mit --to oder HF_HUB_CACHE eine andere</translation>
    </message>
    <message>
        <source>see the adapters that Belfry runs: engine/lora/ADAPTER_CONFIG.md</source>
        <translation>die Adapter, die Belfry kann: engine/lora/ADAPTER_CONFIG.md</translation>
    </message>
    <message>
        <source>stopped; what has arrived is kept: the same command goes on from there</source>
        <translation>angehalten; was angekommen ist, bleibt: Derselbe Befehl macht von dort weiter</translation>
    </message>
    <message>
        <source>tells no checksum of %1, without which it cannot be verified</source>
        <translation>nennt keine Prüfsumme von %1, ohne die es nicht geprüft werden kann</translation>
    </message>
    <message>
        <source>tells no commit (&quot;sha&quot; with 40 hexadecimal digits)</source>
        <translation>nennt keinen Commit („sha“ mit 40 hexadezimalen Ziffern)</translation>
    </message>
    <message>
        <source>tells no possible size of %1</source>
        <translation>nennt keine mögliche Größe von %1</translation>
    </message>
    <message>
        <source>tells two sizes of %1</source>
        <translation>nennt zwei Größen von %1</translation>
    </message>
    <message>
        <source>the address that %1 gave for %2 has expired or is refused (status %3); what has arrived is kept: try again</source>
        <translation>die Adresse, die %1 für %2 gab, ist abgelaufen oder wird verweigert (Status %3); was angekommen ist, bleibt: Versuchen Sie es wieder</translation>
    </message>
    <message>
        <source>the connection to %1 ended too early</source>
        <translation>die Verbindung zu %1 endete zu früh</translation>
    </message>
    <message>
        <source>the download ended: %1; close other programs and give the same command again</source>
        <translation>der Download endete: %1; schließen Sie andere Programme und geben Sie denselben Befehl noch einmal</translation>
    </message>
    <message>
        <source>the folder cannot be made</source>
        <translation>der Ordner kann nicht angelegt werden</translation>
    </message>
    <message>
        <source>the network is forbidden by %1, so nothing was asked of %2: lift that first</source>
        <translation>das Netz ist durch %1 verboten, also wurde %2 nichts gefragt: Heben Sie das zuerst auf</translation>
    </message>
    <message>
        <source>the proxy on the way to %1 refuses: check http_proxy and https_proxy</source>
        <translation>der Proxy auf dem Weg zu %1 verweigert: Prüfen Sie http_proxy und https_proxy</translation>
    </message>
    <message>
        <source>the system&apos;s keyring does not answer (%1): unlock it and try again, or set HF_TOKEN</source>
        <translation>der Schlüsselbund des Systems antwortet nicht (%1): Schließen Sie ihn auf und versuchen Sie es wieder, oder setzen Sie HF_TOKEN</translation>
    </message>
    <message>
        <source>there is no place for a token: set HOME or HF_HOME</source>
        <translation>es gibt keinen Platz für ein Token: Setzen Sie HOME oder HF_HOME</translation>
    </message>
    <message>
        <source>there is no place for settings: set HOME (on Windows LOCALAPPDATA)</source>
        <translation>es gibt keinen Platz für Einstellungen: Setzen Sie HOME (unter Windows LOCALAPPDATA)</translation>
    </message>
    <message>
        <source>there is no place to keep a token in: set HF_TOKEN</source>
        <translation>es gibt keinen Ort, um ein Token aufzuheben: Setzen Sie HF_TOKEN</translation>
    </message>
    <message>
        <source>what %1 sends is no answer of a hub: check HF_ENDPOINT and the network</source>
        <translation>was %1 schickt, ist keine Antwort eines Hubs: Prüfen Sie HF_ENDPOINT und das Netz</translation>
    </message>
    <message>
        <source>what was typed</source>
        <translation>was eingegeben wurde</translation>
    </message>
    <message>
        <source>which is no address of a web server</source>
        <translation>das ist keine Adresse eines Webservers</translation>
    </message>
    <message>
        <source>which is not encrypted: refused</source>
        <translation>das ist nicht verschlüsselt: verweigert</translation>
    </message>
    <message>
        <source>the engine&apos;s process cannot be started (%1: %2); start Belfry with --in-process to do without it</source>
        <translation>der Prozess der Maschine lässt sich nicht starten (%1: %2); starten Sie Belfry mit --in-process, um ohne ihn auszukommen</translation>
    </message>
    <message>
        <source>the answer has %1 bytes, which is more than the %2 that the engine&apos;s process can send at once; ask for less, or start Belfry with --in-process</source>
        <translation>die Antwort hat %1 Bytes, mehr als die %2, die der Prozess der Maschine auf einmal senden kann; fragen Sie nach weniger, oder starten Sie Belfry mit --in-process</translation>
    </message>
    <message>
        <source>the request has %1 bytes, which is more than the %2 that the engine&apos;s process takes; shorten it</source>
        <translation>die Anfrage hat %1 Bytes, mehr als die %2, die der Prozess der Maschine annimmt; kürzen Sie sie</translation>
    </message>
    <message>
        <source>the engine&apos;s process was killed (%1): by the system, where memory is short, or by somebody</source>
        <translation>der Prozess der Maschine wurde beendet (%1): vom System, wenn Speicher knapp ist, oder von jemandem</translation>
    </message>
    <message>
        <source>the engine&apos;s process crashed (%1)</source>
        <translation>der Prozess der Maschine ist abgestürzt (%1)</translation>
    </message>
    <message>
        <source>the engine&apos;s process ended by itself with the status %1</source>
        <translation>der Prozess der Maschine endete von selbst mit dem Status %1</translation>
    </message>
    <message>
        <source>the engine&apos;s process is %1, this window is %2: the program was updated meanwhile; start Belfry again</source>
        <translation>der Prozess der Maschine ist %1, dieses Fenster ist %2: Das Programm wurde inzwischen aktualisiert; starten Sie Belfry neu</translation>
    </message>
    <message>
        <source>the engine&apos;s process was started again, but the model could not be loaded into it: %1</source>
        <translation>der Prozess der Maschine wurde neu gestartet, aber das Modell ließ sich nicht wieder laden: %1</translation>
    </message>
    <message>
        <source>stopped while the engine was started again</source>
        <translation>angehalten, während die Maschine neu gestartet wurde</translation>
    </message>
    <message>
        <source>the engine&apos;s process sent something that cannot be read (%1) and was ended</source>
        <translation>der Prozess der Maschine hat etwas Unlesbares gesendet (%1) und wurde beendet</translation>
    </message>
    <message>
        <source>the engine&apos;s process said nothing for %1 seconds and was ended</source>
        <translation>der Prozess der Maschine hat %1 Sekunden lang nichts gesagt und wurde beendet</translation>
    </message>
    <message>
        <source>the engine&apos;s process did not stop within %1 seconds and was ended</source>
        <translation>der Prozess der Maschine hat nicht innerhalb von %1 Sekunden angehalten und wurde beendet</translation>
    </message>
    <message>
        <source>the graphics card failed: %1</source>
        <translation>die Grafikkarte hat versagt: %1</translation>
    </message>
    <message>
        <source>%1. The next load starts the engine again; where that ends so as well, place less on the graphics card, or start Belfry with --in-process</source>
        <translation>%1. Das nächste Laden startet die Maschine neu; endet auch das so, legen Sie weniger auf die Grafikkarte, oder starten Sie Belfry mit --in-process</translation>
    </message>
    <message>
        <source>%1. That happened more than once, so it is not tried again by itself: load the model with other options, or start Belfry with --in-process</source>
        <translation>%1. Das ist mehr als einmal geschehen und wird nicht von selbst noch einmal versucht: Laden Sie das Modell mit anderen Optionen, oder starten Sie Belfry mit --in-process</translation>
    </message>
    <message>
        <source>%1, and cannot be started again: %2</source>
        <translation>%1, und lässt sich nicht neu starten: %2</translation>
    </message>
    <message>
        <source>%1. The engine was started again and loads the same model to the same places: ask again</source>
        <translation>%1. Die Maschine wurde neu gestartet und lädt dasselbe Modell an dieselben Orte: Fragen Sie noch einmal</translation>
    </message>
    <message>
        <source>the engine ended more than once, and nothing is loaded any more: load the model again, with other options where it ends once more</source>
        <translation>die Maschine endete mehr als einmal, und es ist nichts mehr geladen: Laden Sie das Modell neu, mit anderen Optionen, falls sie noch einmal endet</translation>
    </message>
    <message>
        <source>the system&apos;s keyring does not answer (%1): unlock it and try again, or type the server&apos;s key once more</source>
        <translation>der Schlüsselbund des Systems antwortet nicht (%1): Schließen Sie ihn auf und versuchen Sie es wieder, oder geben Sie den Schlüssel des Servers noch einmal ein</translation>
    </message>
    <message>
        <source>%1 holds no certificate: expected a PEM file, which has lines like -----BEGIN CERTIFICATE-----; ask whoever runs the server for the certificate of its authority</source>
        <translation>%1 enthält kein Zertifikat: Erwartet wird eine PEM-Datei, in der Zeilen wie -----BEGIN CERTIFICATE----- stehen; fragen Sie, wer den Server betreibt, nach dem Zertifikat seiner Zertifizierungsstelle</translation>
    </message>
    <message>
        <source>make one adapter of it (below), or merge it</source>
        <translation>machen Sie daraus einen Adapter (siehe unten), oder verschmelzen Sie ihn</translation>
    </message>
    <message>
        <source>merge it</source>
        <translation>verschmelzen Sie ihn</translation>
    </message>
    <message>
        <source>the adapter %1 at strength %2: a server applies it at full strength; for another one: %3</source>
        <translation>der Adapter %1 mit der Stärke %2: Ein Server wendet ihn mit voller Stärke an; für eine andere: %3</translation>
    </message>
    <message>
        <source>several adapters at once: a server applies one to a question, chosen as its model; to have all: %1</source>
        <translation>mehrere Adapter zugleich: Ein Server wendet auf eine Frage einen an, der als ihr Modell gewählt wird; um alle zu haben: %1</translation>
    </message>
    <message>
        <source>%1 cards: every layer is divided over 1, 2, 4 or 8 of them, and this model cannot be cut into stages, because layers read the keys and values of others; the commands take %2</source>
        <translation>%1 Karten: Jede Schicht wird auf 1, 2, 4 oder 8 davon verteilt, und dieses Modell lässt sich nicht in Stufen zerlegen, weil Schichten die Schlüssel und Werte anderer lesen; die Befehle nehmen %2</translation>
    </message>
    <message>
        <source>%1 stages of the same size one behind the other, each on %2 cards: fewer tokens a second than the same cards side by side give where their number is 1, 2, 4 or 8</source>
        <translation>%1 gleich große Stufen hintereinander, jede auf so vielen Karten: %2; das gibt weniger Token in der Sekunde als Karten nebeneinander, was nur mit 1, 2, 4 oder 8 geht</translation>
    </message>
    <message>
        <source>%1: its certificate was valid until %2, so nothing was sent: let whoever runs the server renew it; if this computer&apos;s clock is wrong, set it right</source>
        <translation>%1: Sein Zertifikat galt bis %2, also wurde nichts gesendet: Wer den Server betreibt, muss es erneuern; geht die Uhr dieses Rechners falsch, stellen Sie sie</translation>
    </message>
    <message>
        <source>%1: its certificate is valid from %2 on, so nothing was sent: look whether this computer&apos;s clock is right</source>
        <translation>%1: Sein Zertifikat gilt erst ab %2, also wurde nichts gesendet: Sehen Sie nach, ob die Uhr dieses Rechners richtig geht</translation>
    </message>
    <message>
        <source>%1: its certificate is another host&apos;s (%2), so nothing was sent: use the name that stands there if it is the same server; else somebody is in between</source>
        <translation>%1: Sein Zertifikat gehört einem anderen Rechner (%2), also wurde nichts gesendet: Nehmen Sie den Namen, der dort steht, wenn es derselbe Server ist; sonst steht jemand dazwischen</translation>
    </message>
    <message>
        <source>%1: its certificate was taken back by who signed it, so nothing was sent: let whoever runs the server get a new one</source>
        <translation>%1: Wer sein Zertifikat unterschrieben hat, hat es zurückgezogen, also wurde nichts gesendet: Wer den Server betreibt, muss ein neues besorgen</translation>
    </message>
    <message>
        <source>%1: nobody whom this computer trusts vouches for its certificate (signed by %2), so nothing was sent: if that is an authority of your own, give its certificate as a PEM file (below the server&apos;s address, or --server-ca FILE)</source>
        <translation>%1: Niemand, dem dieser Rechner vertraut, bürgt für sein Zertifikat (unterschrieben von %2), also wurde nichts gesendet: Ist das eine eigene Zertifizierungsstelle, geben Sie deren Zertifikat als PEM-Datei an (unter der Adresse des Servers, oder --server-ca FILE)</translation>
    </message>
    <message>
        <source>%1: %2 (%3) cannot be stacked, because that is more than a sum of low-rank updates; merge the adapters into the model instead (merge without --stack)</source>
        <translation>%1: %2 (%3) lässt sich nicht stapeln, denn das ist mehr als eine Summe von Änderungen niedrigen Rangs; verschmelzen Sie die Adapter stattdessen mit dem Modell (merge ohne --stack)</translation>
    </message>
    <message>
        <source>the replacement of rows of a table</source>
        <translation>das Ersetzen von Zeilen einer Tabelle</translation>
    </message>
    <message>
        <source>the replacement of a whole tensor</source>
        <translation>das Ersetzen eines ganzen Tensors</translation>
    </message>
    <message>
        <source>a DoRA update</source>
        <translation>eine DoRA-Änderung</translation>
    </message>
    <message>
        <source>a bias of an update</source>
        <translation>ein Bias einer Änderung</translation>
    </message>
    <message>
        <source>an update of experts</source>
        <translation>eine Änderung von Experten</translation>
    </message>
    <message>
        <source>nothing to stack: no adapter was given that changes this model</source>
        <translation>nichts zu stapeln: Es wurde kein Adapter angegeben, der dieses Modell ändert</translation>
    </message>
    <message>
        <source>the adapters have rank %1 together, at most %2 can be stacked; merge them into the model instead (merge without --stack)</source>
        <translation>die Adapter haben zusammen den Rang %1, höchstens %2 lassen sich stapeln; verschmelzen Sie sie stattdessen mit dem Modell (merge ohne --stack)</translation>
    </message>
    <message>
        <source>%1 is there again, but has no model &quot;%2&quot; any more; choose one of its list</source>
        <translation>%1 ist wieder da, hat aber kein Modell &quot;%2&quot; mehr; wählen Sie eines aus seiner Liste</translation>
    </message>
    <message>
        <source>%1: the key is still there (%2); delete the file</source>
        <translation>%1: Der Schlüssel ist noch da (%2); löschen Sie die Datei</translation>
    </message>
    <message>
        <source>%1: %2 has the file name %3, which %4; nothing was fetched; check the repository&apos;s name, or ask its owner to rename the file</source>
        <translation>%1: %2 hat den Dateinamen %3, der %4; nichts wurde geladen; prüfen Sie den Namen des Repositorys, oder bitten Sie den Besitzer, die Datei umzubenennen</translation>
    </message>
    <message>
        <source>%1: its list of the files of %2 %3; nothing was fetched</source>
        <translation>%1: Die Liste der Dateien von %2 %3; nichts wurde geholt</translation>
    </message>
    <message>
        <source>is none (&quot;Data&quot; with &quot;Files&quot;)</source>
        <translation>ist keine („Data“ mit „Files“)</translation>
    </message>
    <message>
        <source>%1 has no list of the files of %2 (%3); check the name and the revision</source>
        <translation>%1 hat keine Liste der Dateien von %2 (%3); prüfen Sie Namen und Revision</translation>
    </message>
    <message>
        <source>%1: models of ModelScope come as plain files, because the hub&apos;s cache has no place for them; name a folder with --to</source>
        <translation>%1: Modelle von ModelScope kommen als einfache Dateien, weil der Cache des Hubs keinen Platz für sie hat; nennen Sie einen Ordner mit --to</translation>
    </message>
    <message>
        <source>the system starts no more threads: this container or control group may have %1 of them (pids.max); raise that limit, or end other programs in it</source>
        <translation>das System startet keine weiteren Threads: dieser Container oder diese Kontrollgruppe darf %1 davon haben (pids.max); erhöhen Sie diese Grenze oder beenden Sie andere Programme darin</translation>
    </message>
    <message>
        <source>the system starts no more threads: this user may have %1 of them, all programs together (ulimit -u); raise that limit, or end other programs</source>
        <translation>das System startet keine weiteren Threads: dieser Benutzer darf %1 davon haben, alle Programme zusammen (ulimit -u); erhöhen Sie diese Grenze oder beenden Sie andere Programme</translation>
    </message>
    <message>
        <source>the system starts no more threads; end other programs, or raise the limit on them (ulimit -u, pids.max of a container)</source>
        <translation>das System startet keine weiteren Threads; beenden Sie andere Programme oder erhöhen Sie die Grenze dafür (ulimit -u, pids.max eines Containers)</translation>
    </message>
    <message>
        <source>the assistant&apos;s files do not hold this tensor (they hold %1 of the %2 that its config.json implies); download the assistant again</source>
        <translation>die Dateien des Assistenten enthalten diesen Tensor nicht (sie enthalten %1 der %2, die seine config.json verlangt); laden Sie den Assistenten noch einmal herunter</translation>
    </message>
    <message>
        <source>WebP header: an animation without a whole frame</source>
        <translation>WebP-Header: eine Animation ohne ein ganzes Einzelbild</translation>
    </message>
    <message>
        <source>WebP header: the first frame does not lie within the picture</source>
        <translation>WebP-Header: Das erste Einzelbild liegt nicht innerhalb des Bildes</translation>
    </message>
    <message>
        <source>%1 (%2) does not answer; restart the program, and the machine if that does not help.</source>
        <translation>%1 (%2) antwortet nicht; starten Sie das Programm neu, und den Rechner, wenn das nicht hilft.</translation>
    </message>
    <message>
        <source>%1 (%2) has compute capability %3; Belfry&apos;s kernels need %4 (Turing) or newer, so this card is not used.</source>
        <translation>%1 (%2) hat Compute Capability %3; die Kernel von Belfry brauchen %4 (Turing) oder neuer, deshalb wird diese Karte nicht benutzt.</translation>
    </message>
    <message>
        <source>%1 (%2) is lost to this process since %3; start Belfry again to use it.</source>
        <translation>%1 (%2) ist für diesen Lauf von Belfry verloren (%3); starten Sie Belfry neu, um sie zu verwenden.</translation>
    </message>
    <message>
        <source>%1 (its layer reads another layer&apos;s keys and values)</source>
        <translation>%1 (seine Schicht liest die Schlüssel und Werte einer anderen)</translation>
    </message>
    <message>
        <source>%1 does not answer the driver (%2); restart the machine to use this card.</source>
        <translation>%1 antwortet dem Treiber nicht (%2); nach einem Neustart des Rechners kann diese Karte benutzt werden.</translation>
    </message>
    <message>
        <source>%1 given by %2 has no effect: lm_head is the table of embed_tokens; give it to %3, or ask for two copies with &quot;duplicate_tied&quot;: true</source>
        <translation>%1 aus %2 hat keine Wirkung: lm_head ist die Tabelle von embed_tokens; geben Sie es %3, oder verlangen Sie zwei Kopien mit &quot;duplicate_tied&quot;: true</translation>
    </message>
    <message>
        <source>%1 has no effect: what is stored on disk stays in the model&apos;s own files, which need no more room</source>
        <translation>%1 hat keine Wirkung: Was auf der Festplatte liegt, bleibt in den Dateien des Modells, die keinen weiteren Platz brauchen</translation>
    </message>
    <message>
        <source>%1 (its chat template is not known)</source>
        <translation>%1 (die Chat-Vorlage darin ist nicht bekannt)</translation>
    </message>
    <message>
        <source>%1 (the usual defaults of such models are used instead)</source>
        <translation>%1 (es gelten die für solche Modelle üblichen Vorgaben)</translation>
    </message>
    <message>
        <source>%1 concerns training only and is ignored</source>
        <translation>%1 betrifft nur das Training und wird nicht beachtet</translation>
    </message>
    <message>
        <source>%1 in %2: embedding tables and the head stay unquantized there</source>
        <translation>%1 in %2: Einbettungstabellen und der Kopf bleiben dort unquantisiert</translation>
    </message>
    <message>
        <source>%1 in its folder has tokens that the model&apos;s tokenizer lacks: %2. Prompts are cut with the model&apos;s tokenizer, these into several tokens, so that the adapter does not see what it was trained on; a copy of the model&apos;s folder with the adapter&apos;s tokenizer.json cuts them rightly</source>
        <translation>%1 in seinem Ordner hat Token, die dem Tokenizer des Modells fehlen: %2. Prompts werden mit dem Tokenizer des Modells zerlegt, diese in mehrere Token, sodass der Adapter nicht sieht, womit er trainiert wurde; eine Kopie des Modellordners mit der tokenizer.json des Adapters zerlegt sie richtig</translation>
    </message>
    <message>
        <source>%1 is false in adapter_config.json</source>
        <translation>%1 ist false in adapter_config.json</translation>
    </message>
    <message>
        <source>%1 (as built)</source>
        <translation>%1 (wie beim Bau)</translation>
    </message>
    <message>
        <source>%1 (this machine runs %2)</source>
        <translation>%1 (auf diesem Rechner laufen %2)</translation>
    </message>
    <message>
        <source>%1 free now</source>
        <translation>%1 jetzt frei</translation>
    </message>
    <message>
        <source>%1: frees %2, costs %3</source>
        <translation>%1: gibt %2 frei, kostet %3</translation>
    </message>
    <message>
        <source>%1: frees %2 (enough by itself), costs %3</source>
        <translation>%1: gibt %2 frei (das genügt schon), kostet %3</translation>
    </message>
    <message>
        <source>%1 (computed on %2)</source>
        <translation>%1 (gerechnet auf %2)</translation>
    </message>
    <message>
        <source>move %1 to %2</source>
        <translation>%1 auf %2 legen</translation>
    </message>
    <message>
        <source>move %1 and %2 to %3</source>
        <translation>%1 und %2 auf %3 legen</translation>
    </message>
    <message>
        <source>%1, with %2 kept as a copy of its own (&quot;%2&quot;: {&quot;store&quot;: &quot;%3&quot;, &quot;compute&quot;: &quot;%4&quot;, &quot;duplicate_tied&quot;: true})</source>
        <translation>%1, wobei %2 eine eigene Kopie bleibt (&quot;%2&quot;: {&quot;store&quot;: &quot;%3&quot;, &quot;compute&quot;: &quot;%4&quot;, &quot;duplicate_tied&quot;: true})</translation>
    </message>
    <message>
        <source>use --head int8</source>
        <translation>--head int8 nehmen</translation>
    </message>
    <message>
        <source>use --head int8 and %1</source>
        <translation>--head int8 nehmen und %1</translation>
    </message>
    <message>
        <source>use --quant %1</source>
        <translation>--quant %1 nehmen</translation>
    </message>
    <message>
        <source>use a context of %1 tokens</source>
        <translation>einen Kontext von %1 Token nehmen</translation>
    </message>
    <message>
        <source>use --prefill-chunk %1</source>
        <translation>--prefill-chunk %1 nehmen</translation>
    </message>
    <message>
        <source>use --image-tokens %1</source>
        <translation>--image-tokens %1 nehmen</translation>
    </message>
    <message>
        <source>nothing measurable</source>
        <translation>nichts Messbares</translation>
    </message>
    <message>
        <source>nothing measurable (one row per token)</source>
        <translation>nichts Messbares (eine Zeile je Token)</translation>
    </message>
    <message>
        <source>nothing measurable (one row of %1 per token)</source>
        <translation>nichts Messbares (eine Zeile von %1 je Token)</translation>
    </message>
    <message>
        <source>one read of %1 per token</source>
        <translation>einmal Lesen von %1 je Token</translation>
    </message>
    <message>
        <source>one read of the files per image or clip</source>
        <translation>einmal Lesen der Dateien je Bild oder Aufnahme</translation>
    </message>
    <message>
        <source>about %1 per image</source>
        <translation>etwa %1 je Bild</translation>
    </message>
    <message>
        <source>about %1 per 10 s of sound</source>
        <translation>etwa %1 je 10 s Ton</translation>
    </message>
    <message>
        <source>about %1 per token</source>
        <translation>etwa %1 je Token</translation>
    </message>
    <message>
        <source>memory of the conversation</source>
        <translation>Gedächtnis des Gesprächs</translation>
    </message>
    <message>
        <source>time until a long prompt is read</source>
        <translation>Zeit, bis eine lange Frage gelesen ist</translation>
    </message>
    <message>
        <source>detail of large pictures</source>
        <translation>Einzelheiten großer Bilder</translation>
    </message>
    <message>
        <source>some accuracy; it is faster</source>
        <translation>etwas Genauigkeit; es ist schneller</translation>
    </message>
    <message>
        <source>some accuracy of the last layer; it is faster</source>
        <translation>etwas Genauigkeit der letzten Schicht; es ist schneller</translation>
    </message>
    <message>
        <source>a little more accuracy</source>
        <translation>etwas mehr Genauigkeit</translation>
    </message>
    <message>
        <source>hardly any accuracy</source>
        <translation>kaum Genauigkeit</translation>
    </message>
    <message>
        <source>%1 is &quot;%2&quot;: a model of another kind; Belfry runs Gemma 4 (E2B, E4B, 12B, 26B-A4B, 31B) and models of Llama&apos;s form (llama, mistral)</source>
        <translation>%1 ist &quot;%2&quot;: ein Modell anderer Art; Belfry führt Gemma 4 aus (E2B, E4B, 12B, 26B-A4B, 31B) und Modelle von Llamas Form (llama, mistral)</translation>
    </message>
    <message>
        <source>%1 is &quot;%2&quot;: a speculative-decoding assistant, not a model to chat with; open the model it belongs to</source>
        <translation>%1 ist &quot;%2&quot;: ein Helfer zum spekulativen Dekodieren, kein Modell für Gespräche; öffnen Sie das Modell, zu dem er gehört</translation>
    </message>
    <message>
        <source>%1 is a file, not a folder; %2</source>
        <translation>%1 ist eine Datei, kein Ordner; %2</translation>
    </message>
    <message>
        <source>%1 is a file; choose its folder: %2</source>
        <translation>%1 ist eine Datei; wählen Sie ihren Ordner: %2</translation>
    </message>
    <message>
        <source>%1 is a model in the form of %2; Belfry runs the model as it was published: choose the Hugging Face folder with config.json and .safetensors files</source>
        <translation>%1 ist ein Modell in der Form von %2; Belfry nimmt das Modell, wie es veröffentlicht wurde: Wählen Sie den Hugging-Face-Ordner mit config.json und .safetensors-Dateien</translation>
    </message>
    <message>
        <source>%1 is empty; %2</source>
        <translation>%1 ist leer; %2</translation>
    </message>
    <message>
        <source>%1 may not be looked into; ask its owner for the right to read it</source>
        <translation>In %1 dürfen Sie nicht hineinsehen; bitten Sie den Besitzer um das Recht, ihn zu lesen</translation>
    </message>
    <message>
        <source>choose the folder that holds a Hugging Face model: config.json and .safetensors files</source>
        <translation>wählen Sie den Ordner mit einem Hugging-Face-Modell: config.json und .safetensors-Dateien</translation>
    </message>
    <message>
        <source>copy the missing files beside the others, or get the model again</source>
        <translation>die fehlenden Dateien neben die anderen kopieren, oder das Modell noch einmal holen</translation>
    </message>
    <message>
        <source>is a GGUF file: give the file itself, as the model or the adapter that it is; a projector (mmproj) goes with its model</source>
        <translation>ist eine GGUF-Datei: Geben Sie die Datei selbst an, als das Modell oder den Adapter, der sie ist; ein Projektor (mmproj) gehört zu seinem Modell</translation>
    </message>
    <message>
        <source>the tensor %1 is stored as %2; F32, F16 or BF16 are read for it: convert the adapter with --outtype f16</source>
        <translation>der Tensor %1 ist als %2 gespeichert; für ihn werden F32, F16 oder BF16 gelesen: Konvertieren Sie den Adapter mit --outtype f16</translation>
    </message>
    <message>
        <source>the tensor %1 belongs to none of a model&apos;s; expected the name of one with .lora_a or .lora_b behind it. Convert the adapter again, or give its PEFT folder</source>
        <translation>der Tensor %1 gehört zu keinem eines Modells; erwartet wird der Name eines solchen mit .lora_a oder .lora_b dahinter. Konvertieren Sie den Adapter noch einmal, oder geben Sie seinen PEFT-Ordner an</translation>
    </message>
    <message>
        <source>the adapter was made for prompts that begin with %1</source>
        <translation>der Adapter wurde für Eingaben gemacht, die mit %1 beginnen</translation>
    </message>
    <message>
        <source>%1 is a GGUF file, whose converter keeps plain LoRA alone: of an adapter with rsLoRA or an alpha_pattern only the PEFT folder has the right strengths</source>
        <translation>%1 ist eine GGUF-Datei, deren Konverter nur einfache LoRA behält: Bei einem Adapter mit rsLoRA oder einem alpha_pattern hat nur der PEFT-Ordner die richtigen Stärken</translation>
    </message>
    <message>
        <source>adapter.lora.alpha is %1, beyond 1e9 in size; the file is damaged</source>
        <translation>adapter.lora.alpha ist %1, dem Betrag nach mehr als 1e9; die Datei ist beschädigt</translation>
    </message>
    <message>
        <source>was made for a model of the architecture %1, this one is %2; get the adapter that was made for this model</source>
        <translation>wurde für ein Modell der Architektur %1 gemacht, dieses hat %2; besorgen Sie den Adapter, der für dieses Modell gemacht wurde</translation>
    </message>
    <message>
        <source>is an activated LoRA (aLoRA), which acts behind certain words alone; Belfry runs plain LoRA</source>
        <translation>ist eine aktivierte LoRA (aLoRA), die nur hinter bestimmten Wörtern wirkt; Belfry führt einfache LoRA aus</translation>
    </message>
    <message>
        <source>is an adapter of the kind %1; Belfry runs &quot;lora&quot;</source>
        <translation>ist ein Adapter der Art %1; Belfry führt „lora“ aus</translation>
    </message>
    <message>
        <source>is a model, not an adapter. Open it as the model</source>
        <translation>ist ein Modell und kein Adapter. Öffnen Sie es als Modell</translation>
    </message>
    <message>
        <source>is a projector (mmproj), not an adapter; give it with its model</source>
        <translation>ist ein Projektor (mmproj) und kein Adapter; geben Sie ihn mit seinem Modell an</translation>
    </message>
    <message>
        <source>%1, but %2 is; if that is the adapter, give the file</source>
        <translation>%1, aber %2; wenn das der Adapter ist, geben Sie die Datei an</translation>
    </message>
    <message>
        <source>is a file of PyTorch&apos;s, which can run code when it is opened, so Belfry never opens one; get the .safetensors files of the model, or convert it once with transformers (save_pretrained)</source>
        <translation>ist eine Datei von PyTorch, die beim Öffnen Programme ausführen kann, deshalb öffnet Belfry nie eine; holen Sie die .safetensors-Dateien des Modells, oder wandeln Sie es einmal mit transformers um (save_pretrained)</translation>
    </message>
    <message>
        <source>is an archive; unpack it and choose the folder that comes out</source>
        <translation>ist ein Archiv; packen Sie es aus und wählen Sie den Ordner, der dabei entsteht</translation>
    </message>
    <message>
        <source>%1: what stands for %2 has %3, at most %4 are read; get the file of another converter</source>
        <translation>%1: was für %2 steht, hat %3; gelesen werden höchstens %4; nehmen Sie die Datei eines anderen Konverters</translation>
    </message>
    <message>
        <source>%1: holds nothing that stands for %2; get the file of another converter</source>
        <translation>%1: enthält nichts, was für %2 steht; nehmen Sie die Datei eines anderen Konverters</translation>
    </message>
    <message>
        <source>%1: the file was cut short; download it again</source>
        <translation>%1: die Datei ist abgeschnitten; laden Sie sie neu herunter</translation>
    </message>
    <message>
        <source>get the mmproj file of the model&apos;s own repository</source>
        <translation>nehmen Sie die mmproj-Datei aus dem Repository des Modells</translation>
    </message>
    <message>
        <source>%1 beside the model fits</source>
        <translation>%1 neben dem Modell passt</translation>
    </message>
    <message>
        <source>%1: belongs to another model: its features are %2 wide, %3 is %4 wide; %5</source>
        <translation>%1: gehört zu einem anderen Modell: seine Merkmale sind %2 breit, %3 ist %4 breit; %5</translation>
    </message>
    <message>
        <source>%1: is not a projector (mmproj); %2</source>
        <translation>%1: ist kein Projektor (mmproj); %2</translation>
    </message>
    <message>
        <source>%1: models of its architecture take no projector; leave --mmproj out</source>
        <translation>%1: Modelle dieser Architektur nehmen keinen Projektor; lassen Sie --mmproj weg</translation>
    </message>
    <message>
        <source>%1: is not a GGUF file; --mmproj goes with one</source>
        <translation>%1: ist keine GGUF-Datei; --mmproj gehört zu einer solchen</translation>
    </message>
    <message>
        <source>%1: the tensor %2 is missing or is no table; the file is damaged or holds another kind of model</source>
        <translation>%1: der Tensor %2 fehlt oder ist keine Tabelle; die Datei ist beschädigt oder enthält eine andere Art von Modell</translation>
    </message>
    <message>
        <source>%1: rope_freqs.weight is not a list of %2 numbers, ones followed by values of at least 1e29; other rotations are not implemented</source>
        <translation>%1: rope_freqs.weight ist keine Liste von %2 Zahlen, Einsen und dann Werte von mindestens 1e29; andere Rotationen sind nicht umgesetzt</translation>
    </message>
    <message>
        <source>%1: some full layers have a tensor attn_v.weight and others do not; the file is damaged</source>
        <translation>%1: einige volle Schichten haben einen Tensor attn_v.weight, andere nicht; die Datei ist beschädigt</translation>
    </message>
    <message>
        <source>gives layer %1 a width of %2, expected %3</source>
        <translation>gibt Schicht %1 die Breite %2, erwartet wird %3</translation>
    </message>
    <message>
        <source>is %1, expected a positive number</source>
        <translation>ist %1, erwartet wird eine positive Zahl</translation>
    </message>
    <message>
        <source>gives the layers different widths, which is not implemented</source>
        <translation>gibt den Schichten verschiedene Breiten, was nicht umgesetzt ist</translation>
    </message>
    <message>
        <source>is %1; models with experts of this architecture (Mixtral) are not implemented</source>
        <translation>ist %1; Modelle dieser Architektur mit Experten (Mixtral) sind nicht umgesetzt</translation>
    </message>
    <message>
        <source>%1: the key %2 %3</source>
        <translation>%1: der Schlüssel %2 %3</translation>
    </message>
    <message>
        <source>is missing; the file is damaged or was written by a converter that Belfry does not know</source>
        <translation>fehlt; die Datei ist beschädigt oder stammt von einem Konverter, den Belfry nicht kennt</translation>
    </message>
    <message>
        <source>has %1 values for %2 layers, or one that is out of range</source>
        <translation>hat %1 Werte für %2 Schichten oder einen außerhalb der Grenzen</translation>
    </message>
    <message>
        <source>%1: is a LoRA adapter; open the model that it was made for and add it there</source>
        <translation>%1: ist ein LoRA-Adapter; öffnen Sie das Modell, für das er gemacht ist, und fügen Sie ihn dort hinzu</translation>
    </message>
    <message>
        <source>%1: is a projector, which holds the towers for pictures and sound; open the model beside it</source>
        <translation>%1: ist ein Projektor mit den Türmen für Bilder und Ton; öffnen Sie das Modell daneben</translation>
    </message>
    <message>
        <source>%1: its architecture is %2; Belfry runs gemma4 and llama</source>
        <translation>%1: die Architektur ist %2; Belfry führt gemma4 und llama aus</translation>
    </message>
    <message>
        <source>is %1, expected at most %2</source>
        <translation>ist %1, erwartet wird höchstens %2</translation>
    </message>
    <message>
        <source>is %1 of heads of %2; only whole heads of an even size rotate</source>
        <translation>ist %1 bei Köpfen von %2; nur ganze Köpfe gerader Größe werden gedreht</translation>
    </message>
    <message>
        <source>is missing or no list; convert the model with a current llama.cpp</source>
        <translation>fehlt oder ist keine Liste; konvertieren Sie das Modell mit einem aktuellen llama.cpp</translation>
    </message>
    <message>
        <source>holds other values than true and false, or 1 and 0</source>
        <translation>enthält andere Werte als wahr und falsch oder 1 und 0</translation>
    </message>
    <message>
        <source>ends with a sliding layer, which is not implemented</source>
        <translation>endet mit einer gleitenden Schicht, was nicht umgesetzt ist</translation>
    </message>
    <message>
        <source>gives layer %1 %2 heads and %3 for keys and values, which is not implemented</source>
        <translation>gibt Schicht %1 %2 Köpfe und %3 für Schlüssel und Werte, was nicht umgesetzt ist</translation>
    </message>
    <message>
        <source>%1: the tensor %2 is not one that Belfry knows; it may change what the model computes, so the file is not opened</source>
        <translation>%1: den Tensor %2 kennt Belfry hier nicht; er kann ändern, was das Modell rechnet, daher wird die Datei nicht geöffnet</translation>
    </message>
    <message>
        <source>%1: the tensor %2 has a shape that its metadata do not allow; the file is damaged</source>
        <translation>%1: der Tensor %2 hat eine Form, die die Metadaten nicht zulassen; die Datei ist beschädigt</translation>
    </message>
    <message>
        <source>%1: the tensor %2 is stored as %3; projectors with F32, F16 or BF16 for it are read</source>
        <translation>%1: der Tensor %2 ist als %3 gespeichert; gelesen werden Projektoren, in denen er F32, F16 oder BF16 ist</translation>
    </message>
    <message>
        <source>%1: holds the tensor %2 twice, by itself and within another; the file is damaged</source>
        <translation>%1: enthält den Tensor %2 zweimal, für sich und in einem anderen; die Datei ist beschädigt</translation>
    </message>
    <message>
        <source>%1: its tokenizer is %2 with the rules %3; Belfry has gemma4, for llama models llama, and gpt2 with gpt-2, smollm or llama-bpe</source>
        <translation>%1: der Tokenizer ist %2 mit den Regeln %3; Belfry hat gemma4, für Llama-Modelle llama, und gpt2 mit gpt-2, smollm oder llama-bpe</translation>
    </message>
    <message>
        <source>%1: %2; the file is damaged, download it again</source>
        <translation>%1: %2; die Datei ist beschädigt, laden Sie sie neu herunter</translation>
    </message>
    <message>
        <source>it has no tokens or no merges</source>
        <translation>sie hat keine Token oder keine Verschmelzungen</translation>
    </message>
    <message>
        <source>it has %1 tokens, its table has rows for %2</source>
        <translation>sie hat %1 Token, die Tabelle hat Zeilen für %2</translation>
    </message>
    <message>
        <source>it has %1 tokens and %2 kinds of them</source>
        <translation>sie hat %1 Token und %2 Arten dazu</translation>
    </message>
    <message>
        <source>it has %1 tokens and %2 scores of them</source>
        <translation>sie hat %1 Token und %2 Werte dazu</translation>
    </message>
    <message>
        <source>its words can be made in more than %1 ways</source>
        <translation>ihre Wörter lassen sich auf mehr als %1 Weisen zusammensetzen</translation>
    </message>
    <message>
        <source>its tokens take more than %1</source>
        <translation>die Token brauchen mehr als %1</translation>
    </message>
    <message>
        <source>a merge is not two tokens</source>
        <translation>eine Verschmelzung besteht nicht aus zwei Token</translation>
    </message>
    <message>
        <source>its merges take more than %1</source>
        <translation>die Verschmelzungen brauchen mehr als %1</translation>
    </message>
    <message>
        <source>ends within %1: %2 bytes are needed at byte %3 of %4; the file was cut short, download it again</source>
        <translation>endet innerhalb von %1: %2 Byte werden bei Byte %3 von %4 gebraucht; die Datei ist abgeschnitten, laden Sie sie neu herunter</translation>
    </message>
    <message>
        <source>its header takes more than %1; is this a model?</source>
        <translation>der Kopf braucht mehr als %1; ist das ein Modell?</translation>
    </message>
    <message>
        <source>%1 at byte %2 has a length of %3 bytes, at most %4 are allowed</source>
        <translation>%1 bei Byte %2 ist %3 Byte lang, erlaubt sind höchstens %4</translation>
    </message>
    <message>
        <source>%1 at byte %2 is empty or not a text in UTF-8</source>
        <translation>%1 bei Byte %2 ist leer oder kein Text in UTF-8</translation>
    </message>
    <message>
        <source>does not begin with &quot;GGUF&quot;; is this a GGUF file?</source>
        <translation>beginnt nicht mit &quot;GGUF&quot;; ist das eine GGUF-Datei?</translation>
    </message>
    <message>
        <source>was written for a big-endian machine; get the usual file</source>
        <translation>wurde für einen Big-Endian-Rechner geschrieben; nehmen Sie die übliche Datei</translation>
    </message>
    <message>
        <source>has version %1 of the GGUF format, Belfry reads 2 and 3; convert the model with a current llama.cpp</source>
        <translation>hat Version %1 des GGUF-Formats, Belfry liest 2 und 3; konvertieren Sie das Modell mit einem aktuellen llama.cpp</translation>
    </message>
    <message>
        <source>says that it has %1 tensors and %2 metadata entries; a file of %3 bytes cannot hold them</source>
        <translation>gibt %1 Tensoren und %2 Metadaten an; eine Datei von %3 Byte kann sie nicht enthalten</translation>
    </message>
    <message>
        <source>the key %1 has the unknown type %2</source>
        <translation>der Schlüssel %1 hat den unbekannten Typ %2</translation>
    </message>
    <message>
        <source>the key %1 is a list of lists</source>
        <translation>der Schlüssel %1 ist eine Liste von Listen</translation>
    </message>
    <message>
        <source>the key %1 is a list of %2 elements; at most %3 are read, and no more than the file has bytes for</source>
        <translation>der Schlüssel %1 ist eine Liste von %2 Elementen; gelesen werden höchstens %3, und nicht mehr, als die Datei Bytes hat</translation>
    </message>
    <message>
        <source>the key %1 stands there twice</source>
        <translation>der Schlüssel %1 steht dort zweimal</translation>
    </message>
    <message>
        <source>the key %1 is not a power of two from 8 to 65536</source>
        <translation>der Schlüssel %1 ist keine Zweierpotenz von 8 bis 65536</translation>
    </message>
    <message>
        <source>the tensor %1 has %2 dimensions, at most 4 are allowed</source>
        <translation>der Tensor %1 hat %2 Dimensionen, erlaubt sind höchstens 4</translation>
    </message>
    <message>
        <source>the tensor %1 has an impossible shape: dimension %2 is %3</source>
        <translation>der Tensor %1 hat eine unmögliche Form: Dimension %2 ist %3</translation>
    </message>
    <message>
        <source>the tensor %1 begins at byte %2 of the data, which is no multiple of %3</source>
        <translation>der Tensor %1 beginnt bei Byte %2 der Daten, was kein Vielfaches von %3 ist</translation>
    </message>
    <message>
        <source>the tensor %1 is stored as %2, which Belfry does not read; get a file in Q4_0, Q4_K_M, Q5_K_M, Q6_K, Q8_0 or BF16</source>
        <translation>der Tensor %1 ist als %2 gespeichert, was Belfry nicht liest; nehmen Sie eine Datei in Q4_0, Q4_K_M, Q5_K_M, Q6_K, Q8_0 oder BF16</translation>
    </message>
    <message>
        <source>the tensor %1 has rows of %2 values, %3 has blocks of %4</source>
        <translation>der Tensor %1 hat Zeilen von %2 Werten, %3 hat Blöcke von %4</translation>
    </message>
    <message>
        <source>the tensor %1 is larger than any file</source>
        <translation>der Tensor %1 ist größer als jede Datei</translation>
    </message>
    <message>
        <source>the tensor %1 stands there twice</source>
        <translation>der Tensor %1 steht dort zweimal</translation>
    </message>
    <message>
        <source>the tensors %1 and %2 lie in the same bytes</source>
        <translation>die Tensoren %1 und %2 liegen in denselben Bytes</translation>
    </message>
    <message>
        <source>the tensor %1 lies behind the end of any file</source>
        <translation>der Tensor %1 liegt hinter dem Ende jeder Datei</translation>
    </message>
    <message>
        <source>the tensor %1 ends at byte %2, the file has %3; it was cut short, download it again</source>
        <translation>der Tensor %1 endet bei Byte %2, die Datei hat %3; sie ist abgeschnitten, laden Sie sie neu herunter</translation>
    </message>
    <message>
        <source>the key %1 is not %2; the file is damaged or was written by a converter that Belfry does not know</source>
        <translation>der Schlüssel %1 ist nicht %2; die Datei ist beschädigt oder stammt von einem Konverter, den Belfry nicht kennt</translation>
    </message>
    <message>
        <source>text in UTF-8</source>
        <translation>Text in UTF-8</translation>
    </message>
    <message>
        <source>a list of whole numbers</source>
        <translation>eine Liste ganzer Zahlen</translation>
    </message>
    <message>
        <source>a list of finite 32-bit numbers</source>
        <translation>eine Liste endlicher 32-Bit-Zahlen</translation>
    </message>
    <message>
        <source>a list of texts</source>
        <translation>eine Liste von Texten</translation>
    </message>
    <message>
        <source>says that it is number %1 (from 0) of %2 parts, of which there may be %3; the file is damaged, download it again</source>
        <translation>gibt an, Nummer %1 (ab 0) von %2 Teilen zu sein, von denen es %3 geben darf; die Datei ist beschädigt, laden Sie sie neu herunter</translation>
    </message>
    <message>
        <source>is part %1 of %2 of the model and is not in the folder; download it beside %3</source>
        <translation>ist Teil %1 von %2 des Modells und nicht im Ordner; laden Sie ihn neben %3 herunter</translation>
    </message>
    <message>
        <source>says that it is part %1 of %2, its name says %3; the parts belong to different downloads</source>
        <translation>gibt an, Teil %1 von %2 zu sein, der Name sagt %3; die Teile gehören zu verschiedenen Downloads</translation>
    </message>
    <message>
        <source>the parts up to this one hold more than %1 tensors; is this a model?</source>
        <translation>die Teile bis zu diesem enthalten mehr als %1 Tensoren; ist das ein Modell?</translation>
    </message>
    <message>
        <source>says that its %1 parts hold %2 tensors, they hold %3</source>
        <translation>gibt an, dass seine %1 Teile %2 Tensoren enthalten; es sind %3</translation>
    </message>
    <message>
        <source>is part %1 of %2, but its name does not end as theirs do (as model-00001-of-00003.gguf); give it its own name again</source>
        <translation>ist Teil %1 von %2, doch der Name endet nicht so (wie model-00001-of-00003.gguf); geben Sie der Datei ihren Namen zurück</translation>
    </message>
    <message>
        <source>%1: the scale of block %2 is not a finite number; the file is damaged, download it again</source>
        <translation>%1: die Skala von Block %2 ist keine endliche Zahl; die Datei ist beschädigt, laden Sie sie neu herunter</translation>
    </message>
</context>
</TS>
