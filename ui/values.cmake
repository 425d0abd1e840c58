# SPDX-License-Identifier: Apache-2.0
# What is no widget: sources that need Qt Core alone, for programs without the window.
set(ui_value_sources "")
foreach(name chat/chat_document chat/chat_export chat/chat_json chat/chat_request chat/media_kind common/error_words
        common/issue_words common/note_words common/private_files
        common/reply_words common/sentence_words common/unique_id common/window_sentences
        style/format)
    list(APPEND ui_value_sources ${PROJECT_SOURCE_DIR}/ui/${name}.cpp)
endforeach()
